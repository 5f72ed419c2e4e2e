// SPDX-License-Identifier: Apache-2.0

/// The application or service that a cgroup path names, by systemd's conventions for desktops.
enum ControlGroup: Hashable {
    /// An application that Flatpak has put into a scope of its own.
    case flatpak(String)
    /// A snap's application, as `NAME.APP`.
    case snap(String)
    /// An application that the desktop has started as a unit of its own: its desktop id.
    case application(String)
    /// A service of the system, without `.service`.
    case service(String)

    /// Reads a path such as `/user.slice/…/app-gnome-org.gnome.Maps-4711.scope`.
    init?(path: String) {
        let parts = path.split(separator: "/")
        // The unit is what the service manager has made. Below it the program itself may be allowed
        // to make groups, and name them as it likes.
        if parts.first == "system.slice" {
            let service = parts.first { $0.hasSuffix(".service") }
            guard let name = service?.removingSuffix(".service") else { return nil }
            self = .service(Self.unescape(name))
            return
        }
        let manager = parts.firstIndex { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
        guard let manager,
            let unit = parts[(manager + 1)...].first(where: { !$0.hasSuffix(".slice") })
        else { return nil }
        if unit.hasPrefix("snap."), let name = unit.removingSuffix(".scope") {
            // snap.NAME.APP-UUID.scope or snap.NAME.APP.UUID.scope
            let words = name.split(separator: ".")
            guard words.count >= 3 else { return nil }
            let app = words[2].split(separator: "-").first ?? words[2]
            self = .snap("\(words[1]).\(app)")
        } else if let (launcher, id) = Self.application(unit) {
            self = launcher == "flatpak" ? .flatpak(id) : .application(id)
        } else {
            return nil
        }
    }

    /// Takes `app[-LAUNCHER]-ID-RANDOM.scope` or `app[-LAUNCHER]-ID[@RANDOM].service` apart; dashes
    /// inside the parts are escaped.
    private static func application(_ unit: Substring) -> (launcher: String?, id: String)? {
        var parts: [Substring]
        if let name = unit.removingSuffix(".scope") {
            parts = name.split(separator: "-", omittingEmptySubsequences: false).dropLast()
        } else if let name = unit.removingSuffix(".service") {
            let template = name.prefix { $0 != "@" }
            parts = template.split(separator: "-", omittingEmptySubsequences: false)
        } else {
            return nil
        }
        guard parts.first == "app", (2...3).contains(parts.count), let id = parts.last,
            !id.isEmpty
        else { return nil }
        return (parts.count == 3 ? unescape(parts[1]) : nil, unescape(id))
    }

    /// Undoes `systemd-escape`: `\x2d` is a dash.
    private static func unescape(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = UInt8(String(Substring(rest.dropFirst().prefix(2))), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Substring {
    /// What precedes a suffix, `nil` if the text does not end with it or is nothing else.
    fileprivate func removingSuffix(_ suffix: String) -> Substring? {
        hasSuffix(suffix) && count > suffix.count ? dropLast(suffix.count) : nil
    }
}
