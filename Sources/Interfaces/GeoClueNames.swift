// SPDX-License-Identifier: Apache-2.0

public import DBus

/// Names of the door for programs that speak to GeoClue.
public enum GeoClueNames {
    /// The name by which those programs find a location service and have it started.
    public static let busName: BusName = "org.freedesktop.GeoClue2"
}
