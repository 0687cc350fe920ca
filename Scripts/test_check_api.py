#!/usr/bin/env python3
"""Tests `check_api.py`. A module is compiled before and after, with a break of each kind, and each must be found; so must what is no break."""
import re
import sys
import tempfile
from pathlib import Path

from check_api import Failure, Module, compare, run, toolchain

# What is declared before and after. A declaration is found again by its name.
BREAKS = {
    "removed": ("public func removed() {}", ""),
    "parameterType": ("public func parameterType(_ a: Int) {}", "public func parameterType(_ a: String) {}"),
    "label": ("public func label(a: Int) {}", "public func label(b: Int) {}"),
    "result": ("public func result() -> Int { 1 }", "public func result() -> Int? { 1 }"),
    "lostDefault": ("public func lostDefault(_ a: Int = 1, b: Int = 1) {}", "public func lostDefault(_ a: Int = 1, b: Int) {}"),
    "movedDefault": ("public func movedDefault(a: Int = 1, b: Int) {}", "public func movedDefault(a: Int, b: Int = 1) {}"),
    "throwing": ("public func throwing() {}", "public func throwing() throws {}"),
    "thrownType": ("public func thrownType() throws(CancellationError) {}", "public func thrownType() throws {}"),
    "asynchronous": ("public func asynchronous() {}", "public func asynchronous() async {}"),
    "isolated": ("public func isolated() {}", "@MainActor public func isolated() {}"),
    "sendableClosure": (
        "public func sendableClosure(_ a: @escaping () -> Void) {}",
        "public func sendableClosure(_ a: @escaping @Sendable () -> Void) {}"),
    "constraint": ("public func constraint<T>(_ a: T) {}", "public func constraint<T: Equatable>(_ a: T) {}"),
    "noLongerPublic": ("public func noLongerPublic() {}", "package func noLongerPublic() {}"),
    "noLongerUsable": ("public func noLongerUsable() {}", "@available(*, unavailable) public func noLongerUsable() {}"),
    "LostSendable": ("public struct LostSendable: Sendable {}", "public struct LostSendable {}"),
    "LostEquatable": ("public struct LostEquatable: Equatable {}", "public struct LostEquatable {}"),
    "LostUnchecked": ("public final class LostUnchecked: @unchecked Sendable {}", "public final class LostUnchecked {}"),
    "Conditional": ("public struct Conditional<T> {}\nextension Conditional: Sendable where T: Sendable {}",
                    "public struct Conditional<T> {}\nextension Conditional: Sendable where T: Sendable & Equatable {}"),
    "Foreign": ("public protocol Foreign {}\nextension Int: Foreign {}", "public protocol Foreign {}"),
    "Requirement": ("public protocol Requirement { func old() }", "public protocol Requirement { func old(); func new() }"),
    "RequirementWithConditionalDefault": (
        "public protocol RequirementWithConditionalDefault { func old() }",
        "public protocol RequirementWithConditionalDefault { func old(); func new() }\n"
        "extension RequirementWithConditionalDefault where Self: Equatable { public func new() {} }"),
    "RequirementBesideGainedDefault": (
        "public protocol RequirementBesideGainedDefault { init(a: Int) }",
        "public protocol RequirementBesideGainedDefault { init(a: Int); init(b: Int) }\n"
        "extension RequirementBesideGainedDefault { public init(a: Int) { self.init(b: a) } }"),
    "LostDefaultOfRequirement": (
        "public protocol LostDefaultOfRequirement { func old() }\nextension LostDefaultOfRequirement { public func old() {} }",
        "public protocol LostDefaultOfRequirement { func old() }"),
    "SetterOfRequirement": (
        "public protocol SetterOfRequirement { var a: Int { get } }",
        "public protocol SetterOfRequirement { var a: Int { get set } }"),
    "AssociatedType": ("public protocol AssociatedType {}", "public protocol AssociatedType { associatedtype New }"),
    "Inherited": ("public protocol Inherited {}", "public protocol Inherited: Sendable {}"),
    "Case": ("public enum Case { case old }", "public enum Case { case old, new }"),
    "NestedCase": (
        "public struct NestedCase { public enum Code: Sendable { case old } }",
        "public struct NestedCase { public enum Code: Sendable { case old, new } }"),
    "CaseOfError": ("public enum CaseOfError: Error { case old(Int) }", "public enum CaseOfError: Error { case old(Int), new }"),
    "BecameFinal": ("open class BecameFinal {}", "public final class BecameFinal {}"),
    "NoLongerOpen": ("open class NoLongerOpen {}", "public class NoLongerOpen {}"),
    "FinalMethod": ("open class FinalMethod { open func a() {} }", "open class FinalMethod { public final func a() {} }"),
    "Base": (
        "open class Superclass { public init() {} }\npublic class Base: Superclass {}",
        "open class Superclass { public init() {} }\npublic class Base {}"),
    "Setter": ("public struct Setter { public var a = 1 }", "public struct Setter { public package(set) var a = 1 }"),
    "PropertyType": ("public struct PropertyType { public let a = 1 }", "public struct PropertyType { public let a: Int? = 1 }"),
    "Kind": ("public struct Kind {}", "public final class Kind {}"),
    "Alias": ("public typealias Alias = Int", "public typealias Alias = Int64"),
    "Initializer": ("public struct Initializer { public init() {} }", "public struct Initializer { public init?() { nil } }"),
    "Subscript": (
        "public struct Subscript { public subscript(a: Int) -> Int { a } }",
        "public struct Subscript { public subscript(a: Int8) -> Int { 1 } }"),
    "Mutating": ("public struct Mutating { public func a() {} }", "public struct Mutating { public mutating func a() {} }"),
}
NO_BREAKS = {
    "added": ("", "public func added() {}"),
    "AddedProtocol": ("", "public protocol AddedProtocol { func a() }"),
    "AddedEnum": ("", "public enum AddedEnum { case a }"),
    "packageFunction": ("package func packageFunction(_ a: Int) {}", "package func packageFunction(_ a: String) {}"),
    "packageRemoved": ("package func packageRemoved() {}", ""),
    "PackageType": ("package enum PackageType: Sendable { case a }", "package enum PackageType { case a, b }"),
    "PackageMember": ("public struct PackageMember { package var a = 1 }", "public struct PackageMember { package var b = 1 }"),
    "PackageInExtension": (
        "public struct PackageInExtension {}\npackage extension PackageInExtension { func a() {} }",
        "public struct PackageInExtension {}"),
    "usableFromInline": ("@usableFromInline func usableFromInline() {}", ""),
    "usableFromInlinePackage": ("@usableFromInline package func usableFromInlinePackage() {}", ""),
    "spi": ("@_spi(Tests) public func spi() {}", ""),
    "inlinable": ("@inlinable public func inlinable() {}", "public func inlinable() {}"),
    "body": ("public func body(_ a: Int = 1) {}", "public func body(_ a: Int = 2) { _ = a }"),
    "parameterName": ("public func parameterName(_ a: Int) {}", "@discardableResult public func parameterName(_ a: Int) {}"),
    "gainedDefault": ("public func gainedDefault(_ a: Int, b: Int = 1) {}", "public func gainedDefault(_ a: Int = 1, b: Int = 1) {}"),
    "deprecated": ("public func deprecated() {}", "@available(*, deprecated) public func deprecated() {}"),
    "GainedConformance": ("public struct GainedConformance {}", "public struct GainedConformance: Sendable {}"),
    "RequirementWithDefault": (
        "public protocol RequirementWithDefault { func old() }",
        "public protocol RequirementWithDefault { func old(); func new() }\nextension RequirementWithDefault { public func new() {} }"),
    "GainedDefaultOfRequirement": (
        "public protocol GainedDefaultOfRequirement { func old() }",
        "public protocol GainedDefaultOfRequirement { func old() }\nextension GainedDefaultOfRequirement { public func old() {} }"),
    "Opened": ("public class Opened {}", "open class Opened {}"),
    "NoLongerFinal": ("public final class NoLongerFinal {}", "public class NoLongerFinal {}"),
    "GainedSetter": ("public struct GainedSetter { public private(set) var a = 1 }", "public struct GainedSetter { public var a = 1 }"),
    "Computed": ("public struct Computed { public let a = 1 }", "public struct Computed { public var a: Int { 1 } }"),
}


def compiled(index, folder):
    """The module as it is before (0) or after (1)."""
    folder = folder / ("before", "after")[index]
    folder.mkdir()
    source = folder / "Variants.swift"
    source.write_text("\n".join(pair[index] for pair in (BREAKS | NO_BREAKS).values()))
    run(Path(toolchain()[1]).parent / "swiftc", "-emit-module", "-swift-version", "6", "-package-name", "tests", "-module-name", "Variants",
        "-suppress-warnings", "-o", folder / "Variants.swiftmodule", source)
    return Module("Variants", ["-I", folder], toolchain()[1], folder)


def variant(text):
    """Which declaration a line is about."""
    return next((word for word in re.findall(r"\w+", text.partition("Variants: ")[2] or text) if word in BREAKS or word in NO_BREAKS), text)


def check():
    """What to print, and whether a test failed."""
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, after = compiled(0, folder), compiled(1, folder)
        baselines = folder / "API"
        baselines.mkdir()
        list_of_breaks = baselines / "allowed.txt"
        list_of_breaks.write_text("# Nothing.\n")
        compare([before], baselines, "all")
        failures += [f"a module differs from itself: {line}" for line in compare([before], baselines)[0]]

        found = compare([after], baselines)[0]
        names = {variant(line) for line in found}
        failures += [f"a break was not found: {name}" for name in sorted(set(BREAKS) - names)]
        failures += [f"no break, and found: {name}" for name in sorted(names - set(BREAKS))]

        # An update changes nothing while there are breaks. With a reason for each it does, and they stay.
        old = (baselines / "Variants.txt").read_text()
        compare([after], baselines, "additions")
        if (baselines / "Variants.txt").read_text() != old:
            failures.append("an update wrote breaks that nobody accepted")
        lines = [line.split("\n")[0] for line in found]
        list_of_breaks.write_text("".join(f"{line}  # Tests accept it.\n" for line in lines))
        for update in (None, "additions", None):
            failures += [f"accepted, and found: {line}" for line in compare([after], baselines, update)[0]]
        if compare([after], baselines)[1] or "func added()" not in (baselines / "Variants.txt").read_text():
            failures.append("an update did not write what was added")

        list_of_breaks.write_text("".join(f"{line}\n" for line in lines))
        if sum("without a reason" in line for line in compare([after], baselines)[0]) != len(lines):
            failures.append("a break without a reason was accepted")
        list_of_breaks.write_text("".join(f"{line}  # Tests accept it.\n" for line in lines + ["- Variants: func never()"]))
        if not any("matches no break" in line for line in compare([after], baselines)[0]):
            failures.append("an accepted break that does not exist was not found")
    count = f"{len(BREAKS)} breaks and {len(NO_BREAKS)} other changes of a small module"
    return "\n".join(failures) or f"{count}: each break is found, and nothing else.", bool(failures)


if __name__ == "__main__":
    try:
        text, failed = check()
    except Failure as failure:
        text, failed = str(failure), True
    print(text)
    sys.exit(failed)
