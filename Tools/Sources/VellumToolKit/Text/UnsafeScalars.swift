extension Unicode.Scalar {
    /// Whether a terminal or a browser may act on the scalar, or show nothing in its place.
    ///
    /// Joiners, variation selectors and marks are not among them: they belong to emoji and scripts,
    /// and are judged by what stands before them.
    var isUnsafeToShow: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
            true
        case .format: !isJoiner
        default: properties.isDefaultIgnorableCodePoint && !isVariationSelector
        }
    }

    /// Whether the scalar joins two others, or keeps them from being joined.
    var isJoiner: Bool { value == 0x200C || value == 0x200D }

    /// Whether the scalar selects a form of the one before it.
    var isVariationSelector: Bool { 0xFE00...0xFE0F ~= value }

    /// Whether the scalar is drawn over or beside the one before it.
    var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }
}

/// Which scalars of a text are shown as they are.
struct SafeScalars {
    /// More marks than this on one character are no writing: they would cover the lines above and
    /// below.
    static let marks = 8

    private var before: Unicode.Scalar?
    private var marks = 0

    /// Whether the next scalar of the text is shown as it is.
    mutating func shows(_ scalar: Unicode.Scalar) -> Bool {
        let isShown = isShown(scalar)
        before = isShown ? scalar : nil
        return isShown
    }

    private mutating func isShown(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isUnsafeToShow { return false }
        // Not between letters of ASCII, where they are only a trick.
        if scalar.isJoiner || scalar.isVariationSelector {
            guard let before else { return false }
            return !before.isASCII && !before.isJoiner
        }
        guard scalar.isMark else {
            marks = 0
            return true
        }
        marks += 1
        return before != nil && marks <= Self.marks
    }
}
