import Foundation

/// Completes the symbol graph of a product for DocC.
///
/// The compiler lists a type that a product exports again from VellumCore, but not what extensions in VellumCore add to it. This adds
/// those members, with their relationships.
///
///     swift Scripts/reexported.swift <graph of the product> <graph of VellumCore> <result>

/// A symbol graph as JSON, of which only names are read.
struct SymbolGraph {
    typealias Object = [String: Any]

    private var content: Object

    init(contentsOf path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        content = try JSONSerialization.jsonObject(with: data) as? Object ?? [:]
    }

    func write(to path: String) throws {
        try JSONSerialization.data(withJSONObject: content).write(to: URL(fileURLWithPath: path))
    }

    private var symbols: [Object] { content["symbols"] as? [Object] ?? [] }
    private var relationships: [Object] { content["relationships"] as? [Object] ?? [] }

    private static func name(of symbol: Object) -> String { (symbol["identifier"] as? Object)?["precise"] as? String ?? "" }
    private static func end(_ key: String, of relationship: Object) -> String { relationship[key] as? String ?? "" }
    private static func identity(of relationship: Object) -> [String] { ["kind", "source", "target"].map { end($0, of: relationship) } }

    /// Adds every member that `core` knows of a type in this graph. Members that the compiler derives from protocols stay out.
    mutating func addMembers(from core: SymbolGraph) {
        var names = Set(symbols.map(Self.name))
        let memberships = core.relationships.filter {
            ["memberOf", "requirementOf"].contains(Self.end("kind", of: $0)) && !Self.end("source", of: $0).contains("::SYNTHESIZED::")
        }
        var count = 0
        repeat {
            count = names.count
            for membership in memberships where names.contains(Self.end("target", of: membership)) {
                names.insert(Self.end("source", of: membership))
            }
        } while names.count > count

        let present = Set(symbols.map(Self.name))
        let related = Set(relationships.map(Self.identity))
        content["symbols"] =
            symbols + core.symbols.filter { names.contains(Self.name(of: $0)) && !present.contains(Self.name(of: $0)) }
        content["relationships"] =
            relationships
            + core.relationships.filter { names.contains(Self.end("source", of: $0)) && !related.contains(Self.identity(of: $0)) }
    }
}

let paths = CommandLine.arguments.dropFirst()
guard paths.count == 3, let product = paths.first, let result = paths.last else {
    FileHandle.standardError.write(Data("usage: reexported.swift <graph of the product> <graph of VellumCore> <result>\n".utf8))
    exit(2)
}
var graph = try SymbolGraph(contentsOf: product)
graph.addMembers(from: try SymbolGraph(contentsOf: paths[paths.startIndex + 1]))
try graph.write(to: result)
