// SPDX-License-Identifier: Apache-2.0

import CLinux
import DBus
import Glibc
import Positioning
import Service

/// What the command line asks for, read with glibc's argp.
struct Options {
    var bus = Connection.Bus.system
    var configurationPath: String?
    var statePath: String?
    var sources: [Configuration.Source] = []
    var decodedFile: String?
    var isVerbose = false

    /// A mistake on the command line.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the command line.
    ///
    /// `--help`, `--version` and options that do not exist end the program here, as argp does it.
    init() throws(Mistake) {
        let reading = Reading()
        let status = ArgumentParser.run(reading)
        if let mistake = reading.mistake { throw mistake }
        guard status == 0 else { throw Mistake(description: "the command line cannot be read") }
        self = reading.options
    }

    fileprivate init(defaults: Void) {}

    fileprivate mutating func take(_ key: CInt, _ value: String) throws(Mistake) {
        switch key {
        case Key.bus: bus = try Self.bus(value)
        case Key.config: configurationPath = value
        case Key.state: statePath = value
        case Key.source:
            do {
                sources.append(.init(name: value, address: try SourceAddress(value)))
            } catch {
                throw Mistake(description: "--source \(value): \(error)")
            }
        case Key.decode: decodedFile = value
        case Key.verbose: isVerbose = true
        default: throw Mistake(description: "“\(value)” is no option: all words begin with --")
        }
    }

    private static func bus(_ value: String) throws(Mistake) -> Connection.Bus {
        switch value {
        case "system": return .system
        case "session": return .session
        case _ where value.contains(":"): return .address(value)
        default:
            throw Mistake(
                description: "--bus \(value): use system, session, or an address such as"
                    + " unix:path=/run/bus"
            )
        }
    }
}

/// argp's keys of the options: above the characters, which would be short options.
private enum Key {
    static let bus: CInt = 1001
    static let config: CInt = 1002
    static let state: CInt = 1003
    static let source: CInt = 1004
    static let decode: CInt = 1005
    static let verbose: CInt = 1006
    /// A word that is not an option (`ARGP_KEY_ARG`).
    static let word: CInt = 0
}

/// What argp's callback fills.
private final class Reading {
    var options = Options(defaults: ())
    var mistake: Options.Mistake?
}

/// argp's tables.
///
/// Their texts live as long as argp reads: it keeps a pointer to the version alone.
private enum ArgumentParser {
    private static let about = """
        Tells the programs that may know where this device is.\u{0B}\
        TYPE:ADDRESS of a source is one of gpsd:HOST:PORT, nmea:serial:DEVICE@BAUD, nmea:unix:PATH, \
        nmea:tcp:HOST:PORT, nmea:udp:PORT, nmea:avahi:, nmea:file:PATH?speed=FACTOR&loop=yes, modem: \
        and static:LATITUDE,LONGITUDE,ACCURACY. With a --source, those of the configuration are not used.
        """

    private static let rows: [(name: String, key: CInt, value: String?, text: String)] = [
        ("bus", Key.bus, "BUS", "The bus to serve: system (default), session, or an address"),
        (
            "config", Key.config, "FILE",
            "Read FILE and FILE.d/*.conf (default: \(Configuration.defaultPath))"
        ),
        ("state", Key.state, "DIR", "Keep what has to last in DIR (this version keeps nothing)"),
        ("source", Key.source, "TYPE:ADDRESS", "Where locations come from; can be repeated"),
        (
            "decode", Key.decode, "FILE",
            "Print the fixes of a recording of NMEA, - for standard input"
        ),
        ("verbose", Key.verbose, nil, "Tell details"),
    ]

    static func run(_ reading: Reading) -> CInt {
        clinux_set_program_version(strdup("waymarkd \(Version.text)"))
        var texts: [UnsafeMutablePointer<CChar>?] = []
        defer { for text in texts { free(text) } }
        func keep(_ text: String?) -> UnsafePointer<CChar>? {
            guard let text else { return nil }
            texts.append(strdup(text))
            return texts.last.flatMap { UnsafePointer($0) }
        }
        let about = keep(about)
        var options = rows.map { row in
            argp_option(
                name: keep(row.name),
                key: row.key,
                arg: keep(row.value),
                flags: 0,
                doc: keep(row.text),
                group: 0
            )
        }
        options.append(argp_option())
        return options.withUnsafeBufferPointer { options in
            var parser = argp()
            parser.options = options.baseAddress
            parser.doc = about
            parser.parser = { key, value, state in
                guard let input = state?.pointee.input else { return ARGP_ERR_UNKNOWN }
                let reading = Unmanaged<Reading>.fromOpaque(input).takeUnretainedValue()
                guard key == Key.word || (Key.bus...Key.verbose).contains(key) else {
                    return ARGP_ERR_UNKNOWN
                }
                do throws(Options.Mistake) {
                    try reading.options.take(key, value.map { String(cString: $0) } ?? "")
                    return 0
                } catch {
                    reading.mistake = error
                    return EINVAL
                }
            }
            return argp_parse(
                &parser,
                CommandLine.argc,
                CommandLine.unsafeArgv,
                0,
                nil,
                Unmanaged.passUnretained(reading).toOpaque()
            )
        }
    }
}
