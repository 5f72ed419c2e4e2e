// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

@Suite struct SentenceReaderTests {
    private let good = line("GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")

    @Test(.bug(id: "O76"), arguments: ["\n", "\r", "\r\n", "\r\r\n", "\n\r", "\n\n\r\n", ""])
    func `a line ends with any mixture of line feeds and carriage returns`(end: String) {
        let body = String(good.dropLast())
        #expect(sentences(body + end + body + end).count == 2)
    }

    @Test(
        .bug(id: "O43"),
        arguments: [
            "AT+CGNSSINFO\r\n", "+CGNSSINFO: 3,15,,05,00,4807.03,N,01131.00,E\r\n", "OK\r\n",
            "\r\n\r\n", "# a comment\n", "!AIVDM,1,1,,B,139QcE7P?w<tSF0l4Q@>4?wv0l08,0*02\r\n",
            "\u{B5}b\u{1}\u{7}binary without an end", "$", "$$$", "$GPGGA,123519,48", "$\r\n",
            "$PGRMC,A,218.8,100,6378137.000,298.257223563,0.0,0.0,0.0,A,3,1,1,4,30\r\n",
        ]
    )
    func `noise before a sentence costs nothing`(noise: String) {
        #expect(sentences(noise + good + noise + good).count == 2)
    }

    @Test func `a comment may quote a sentence`() {
        #expect(sentences("# " + good).isEmpty)
        #expect(sentences("# " + good + good).count == 1)
        #expect(sentences("no comment # " + good).count == 1)
    }

    @Test func `a maker's own sentence is none of ours, whatever it ends with`() {
        #expect(sentences(line("PGRMC,A,1,2,3,4,5,6,7,8,9,10")).isEmpty)
        #expect(statistics(line("PGRMC,A,1,2,3,4,5,6,7,8,9,10")).sentences == 1)
    }

    @Test(arguments: ["GP", "GN", "GL", "GA", "GB", "BD", "QZ", "GI", "GQ", "IN", "YD", "II"])
    func `any talker will do`(talker: String) {
        #expect(gga(talker + "GGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,") != nil)
    }

    @Test(arguments: ["*47", "*48", "*4", "*", "*477", "*4G", "*47 ", "*47*47", ""])
    func `only the right checksum of two digits is one`(end: String) {
        let body = "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"
        #expect(sentences(body + end + "\n").count == (end == "*47" ? 1 : 0))
    }

    @Test func `a checksum may be written in small letters`() {
        let body = "$GPGSV,4,1,13,02,28,259,33,04,12,212,27,05,34,305,30,07,79,138,"
        #expect(statistics(body + "*7f\n").sentences == 1)
        #expect(statistics(body + "*7F\n").sentences == 1)
        #expect(statistics(body + "*7e\n").checksumFailures == 1)
    }

    @Test(.bug(id: "O37")) func `00 is a checksum like any other`() {
        let text = "$GPRMC,173138.000,V,3145.5214,N,09704.5057,W,000.0,000.0,170318,000.0,E,N*00"
        #expect(sentences(text).count == 1)
        #expect(fixes(text).isEmpty)
    }

    @Test func `a sentence without checksum is taken only if asked for`() {
        let body = "$GPRMC,081836.75,A,3751.65,S,14507.36,E,000.0,360.0,130998,011.3,E\n"
        #expect(sentences(body).isEmpty)
        #expect(sentences(body, requiresChecksum: false).count == 1)
        // One that was cut short by the next is never whole.
        #expect(sentences(body.dropLast() + body, requiresChecksum: false).count == 1)
    }

    @Test func `a sentence of 255 bytes is taken and a longer one dropped`() {
        // Filled up with digits of the altitude.
        for (length, isTaken) in [(82, true), (255, true), (256, false), (10_000, false)] {
            let head = "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545."
            let tail = ",M,46.9,M,,"
            let zeros = length - 4 - head.utf8.count - tail.utf8.count
            let text = line(head + String(repeating: "4", count: zeros) + tail)
            #expect(text.utf8.count == length + 2)
            #expect(sentences(text + good).count == (isTaken ? 2 : 1))
        }
    }

    @Test func `control characters and other alphabets make no sentence`() {
        #expect(sentences(line("GPGGA,1235\t19,4807.038,N,01131.000,E,1,8,1,5,M,4,M,,")).isEmpty)
        #expect(sentences(line("GPGGA,1235ß19,4807.038,N,01131.000,E,1,8,1,5,M,4,M,,")).isEmpty)
    }

    @Test func `what is wrong is counted`() {
        let text = good + "$GPGGA,1*00\n$GPGGA,1\n$GPGGA,1*0\n" + line("GPGGA,1") + good
        let counts = statistics(text)
        #expect(counts.sentences == 3)
        #expect(counts.checksumFailures == 1)
        #expect(counts.missingChecksums == 1)
        #expect(counts.malformed == 1)
        #expect(counts.refused == 1)
    }

    @Test func `a hundred thousand damaged lines do no harm`() {
        var generator = SeededGenerator(seed: 76)
        let seeds = [
            good, line("GNRMC,052347.00,A,4210.472433,N,02445.362882,E,0.0,,130422,3.2,E,A,V"),
            line("GPZDA,010203.05,06,07,2008,-08,30"), line("GPGGA,,,,,,0,,,,,,,,"),
        ].map { Array($0.utf8) }
        let alphabet = Array("$*,.+-\r\n#0019ANSEWVe\u{7F}".utf8) + [0, 0xFF]
        var receiver = Receiver()
        var lenient = Receiver(requiresChecksum: false)
        var count = 0
        for index in 0..<100_000 {
            var bytes = seeds[index % seeds.count]
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let place = bytes.indices.randomElement(using: &generator) ?? 0
                let byte = alphabet.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                case 2 where bytes.count > 1: bytes.remove(at: place)
                default: bytes.removeLast(min(place, bytes.count - 1))
                }
            }
            for fix in receiver.feed(bytes[...]) + lenient.feed(bytes[...]) {
                count += 1
                #expect(fix.horizontalAccuracy.isFinite && fix.horizontalAccuracy > 0)
                #expect(fix.altitude?.isFinite ?? true)
                #expect(fix.ellipsoidalAltitude?.isFinite ?? true)
                #expect(fix.speed.map { $0.isFinite && $0 >= 0 } ?? true)
                #expect(fix.course.map { (0..<360).contains($0) } ?? true)
            }
        }
        #expect(count > 0)
    }
}
