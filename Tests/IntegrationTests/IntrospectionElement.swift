// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML

/// An element of an introspection document: what it says, and its documentation apart.
struct IntrospectionElement: Hashable {
    let tag: String
    let attributes: [String: String]
    var children: [IntrospectionElement] = []
    var documentation = ""

    var name: String { attributes["name"] ?? "" }

    /// Reads a document.
    ///
    /// - Parameter xml: Its text.
    /// - Returns: The root element.
    /// - Throws: If it is not well-formed.
    static func document(_ xml: String) throws -> IntrospectionElement {
        let parser = XMLParser(data: Data(xml.utf8))
        let builder = Builder()
        parser.delegate = builder
        guard parser.parse(), let root = builder.root else {
            throw parser.parserError ?? CocoaError(.fileReadCorruptFile)
        }
        return root
    }

    /// The interfaces of a node by their names, without those that every object has.
    var interfaces: [String: IntrospectionElement] {
        let own = children.filter {
            $0.tag == "interface" && !$0.name.hasPrefix("org.freedesktop.DBus.")
        }
        return Dictionary(uniqueKeysWithValues: own.map { ($0.name, $0.stripped) })
    }

    /// Without documentation, and with what has no order in an order of its own: arguments keep
    /// theirs.
    private var stripped: IntrospectionElement {
        let arguments = children.filter { $0.tag == "arg" }.map(\.stripped)
        let others = children.filter { $0.tag != "arg" }.map(\.stripped)
            .sorted { ($0.tag, $0.name) < ($1.tag, $1.name) }
        return IntrospectionElement(
            tag: tag,
            attributes: attributes,
            children: arguments + others
        )
    }

    /// All elements that need documentation and have none, as paths of names.
    func undocumented(below path: String = "") -> [String] {
        let path = "\(path)/\(name)"
        let needsIt = ["interface", "method", "signal", "property", "arg"].contains(tag)
        return (needsIt && documentation.isEmpty ? ["\(tag) \(path)"] : [])
            + children.flatMap { $0.undocumented(below: path) }
    }

    private final class Builder: NSObject, XMLParserDelegate {
        var root: IntrospectionElement?
        private var open: [IntrospectionElement] = []

        func parser(
            _ parser: XMLParser,
            didStartElement tag: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(IntrospectionElement(tag: tag, attributes: attributes))
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            guard !open.isEmpty else { return }
            open[open.count - 1].documentation +=
                text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }

        func parser(
            _ parser: XMLParser,
            didEndElement tag: String,
            namespaceURI: String?,
            qualifiedName: String?
        ) {
            guard let element = open.popLast() else { return }
            if open.isEmpty {
                root = element
            } else if tag.hasPrefix("doc:") {
                open[open.count - 1].documentation += element.documentation
            } else {
                open[open.count - 1].children.append(element)
            }
        }
    }
}
