// Made by Scripts/case_folding.py of Unicode 15.0.0.
extension CaseFolding {
    /// Numbers, each in digits of five bits, as in `NormalForm.data`.
    ///
    /// First the runs of characters of which each is folded to one character: their count, then of
    /// each the difference to the start of the run before; the length, twice, and 1 more if every
    /// other character is in the run; the distance to the folded character, twice, and 1 more if it
    /// is negative. Then the characters that are folded to several: their count, then of each the
    /// difference to the character before, the count of its parts, and these. Then the runs of
    /// diacritics: their count, then of each the difference to the start of the run before, and the
    /// length. Characters that have a canonical decomposition are left out.
    static let data: StaticString = #"""
        d5Q2d1P2d32^`1A2P2:2P282P262P2b122F22<22=52;22822D22I2i@22T=15242l<12224j<22232n412d<12f<122
        22j<12n<22V=12R=12242V=12Z=22\=35242d=12222d=32222d=34b=25242f=122422824122224122224122I22=2
        412242S612a3U12242U8252H2fRE12222W:12`RE32222W<12Z412^41;2o72X7[15262292X7BR1P2B>P2O22=2@12m
        112c142O12]12I2H2]312Q332i312Q422222?12236U855P534P538P572P51BP2:\1P2V2G2H;2Bg12f12N3=2A2242
        2822822>224g12g1\2P3_k2\2PV>W12PV>62PV>[I<AXT22mT<12kT<12YT<14UT<22WT<12iS<12YR<12VlT28f2Ql5
        ]16Ql5mA72hA2h1^1P1P1S122cId1d1Zj1P3P3P32222_oD12]^712_nD37262iQE12koD12oQE12mQE22232294oSE2
        U32[352722^ZN_12P2M2R5?2@o12W25242YPU21;2=2222abb23526E2D2Ydb212odb212gdb212Sdb212Ydb222Uab2
        12ebb212[ab212Pj11A2@2Q312Wdb212aSU2152922652O22kKP5Qm[2amDd1P2oV1`2`2`5X2`2P6F^2<N^2@>^284^
        2\g1V3P4PQ3P2P2P]EP2P2PfNT2T2Ao62c3c3Z32lE^3nQ12U[1R\1cX62Q3nE42c3c3RSg12V3V312V3Y312V3\313V
        3V3Y313V3V3\312c3d312c3d3=2d[1f[112d[1U[112d[1[[112n[1f[112d[1][1`3PHd1i17913:;P1c95^8]1^112
        23231Y2;k1EU11V37968234W11OKk59B1I459:345`13o18b1HIM^34]51jX12M12121Y2242P21W61`F3PT11\61`43
        n62n28:1a1>?@\59U;35<H17142X6P2`H24472616355SP33a7P1ZB4UbM15:Z12b22`?B[23U<123527231mRD1RH@m
        N1S71f45gd1121Y1121[52oA4W<2b23Y2;l14n;3VC7:5^71bfE7[bI8:7U14h43n]378AC78235Y31Q57n;1n14P@4T
        O7d36
        """#
}
