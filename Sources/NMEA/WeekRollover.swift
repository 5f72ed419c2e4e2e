// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// Puts right the date of a receiver whose week counter has rolled over.
///
/// The satellites count weeks up to 1023 and begin again, so a receiver has to know in which 1024
/// weeks it is. One that does not is 7168 days late, or twice as many, with a fix and a time that
/// are right. A date is not doubted because it is old: it may be an old recording. It is moved
///
/// - if it lies between the first rollover (22 August 1999) and the end of that year: receivers
///   whose firmware takes the second run of weeks for granted say so since 7 April 2019. (A
///   recording of those four months is the price, if there is one.)
/// - if moving brings it within a day of the host's clock, which no recording does but one that
///   was made 1024 weeks ago to the day. A host's clock that is wrong, or unknown, moves nothing.
enum WeekRollover {
    private static let period = 7168 * Timestamp.microsecondsPerDay

    /// 1999-08-22 to 1999-12-31.
    private static let afterFirst: Range<Int64> = 935_280_000_000_000..<946_684_800_000_000

    /// The date that a receiver means.
    ///
    /// - Parameters:
    ///   - date: Midnight of the date that it tells.
    ///   - arrivedAt: When, by the host's clock.
    /// - Returns: Midnight of the same date or of one that is a multiple of 1024 weeks later.
    static func corrected(_ date: Timestamp, arrivedAt: Timestamp) -> Timestamp {
        if afterFirst.contains(date.microseconds) {
            return Timestamp(microseconds: date.microseconds + period)
        }
        let late = arrivedAt.microseconds - date.microseconds + Timestamp.microsecondsPerDay
        let (periods, rest) = late.quotientAndRemainder(dividingBy: period)
        // The day itself, the one before and the one after, whose midnights these are.
        guard periods > 0, rest < 3 * Timestamp.microsecondsPerDay else { return date }
        return Timestamp(microseconds: date.microseconds + periods * period)
    }
}
