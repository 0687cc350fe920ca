/// How a page looks.
enum StyleSheet {
    static let text: StaticString = """

        :root {
          --paper: #fbfaf7; --ink: #22201c; --muted: #6b665d; --line: #e3ded3; --track: #ece7dc; \
        --accent: #2c5a73;
          color-scheme: light dark;
        }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #161512; --ink: #ebe7de; --muted: #a59f92; --line: #322f29; --track: \
        #2b2823; --accent: #86b6cf; }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, \
        -apple-system, "Segoe UI", Roboto,
          "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; \
        -webkit-text-size-adjust: 100%;
        }
        header, main, footer { max-width: 1040px; margin: 0 auto; padding: 0 32px; }
        header { padding-top: 72px; }
        h1, h2 { font-family: "Iowan Old Style", Palatino, "Palatino Linotype", "Book Antiqua", \
        Georgia, serif; font-weight: 600; }
        h1 { font-size: 40px; line-height: 1.15; margin: 4px 0 8px; letter-spacing: -0.01em; }
        h2 { font-size: 26px; line-height: 1.25; margin: 0 0 24px; }
        h3 { font-size: 15px; font-weight: 600; margin: 0 0 16px; }
        p { margin: 0 0 8px; }
        .above, .path, footer { color: var(--muted); font-size: 14px; }
        .above { color: var(--accent); font-weight: 600; }
        section { padding: 56px 0; border-top: 1px solid var(--line); }
        main > section:first-child { margin-top: 48px; }
        .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: \
        20px 24px; margin: 32px 0 0; }
        .say { max-width: 640px; margin-bottom: 20px; }
        .archive .facts { margin: 0; }
        dt { color: var(--muted); font-size: 13px; }
        dd { margin: 0; font-size: 20px; line-height: 1.4; }
        .block { margin-top: 48px; }
        .pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 32px \
        64px; align-items: start; }
        figure { margin: 0; }
        svg { display: block; width: 100%; max-width: 440px; height: auto; overflow: visible; \
        font-size: 12px; }
        svg text { fill: var(--muted); }
        svg .name, svg .figure { fill: var(--ink); }
        .bar { fill: var(--accent); }
        .track { fill: var(--track); }
        .axis { stroke: var(--line); stroke-width: 1; }
        .curve { fill: none; stroke: var(--accent); stroke-width: 2; }
        .mark { stroke: var(--ink); stroke-width: 2; }
        table { width: 100%; border-collapse: collapse; font-size: 14px; line-height: 1.4; }
        caption { text-align: left; color: var(--muted); font-size: 13px; padding-bottom: 6px; }
        .block > .table caption { position: absolute; width: 1px; height: 1px; overflow: hidden; \
        clip-path: inset(50%); }
        th, td { padding: 7px 0 7px 16px; border-bottom: 1px solid var(--line); text-align: right; \
        vertical-align: top; }
        td { white-space: nowrap; }
        th { font-weight: 400; }
        thead th { color: var(--muted); font-size: 13px; white-space: nowrap; }
        th:first-child { text-align: left; padding-left: 0; white-space: normal; }
        tbody tr:last-child > * { border-bottom: 0; }
        footer { padding-top: 24px; padding-bottom: 64px; border-top: 1px solid var(--line); }
        @media (max-width: 720px) {
          header, main, footer { padding-left: 20px; padding-right: 20px; }
          header { padding-top: 40px; }
          h1 { font-size: 30px; }
          section { padding: 40px 0; }
          .pair { grid-template-columns: minmax(0, 1fr); }
          .facts { grid-template-columns: 1fr 1fr; }
        }
        @media print {
          :root { --paper: #fff; }
          section, .block { break-inside: avoid; }
        }

        """
}
