// SPDX-License-Identifier: Apache-2.0

/// The version of the service, as `--version` and the property `Version` tell it.
public enum Version {
    /// The version, such as `1.2.3`.
    public static let text = "0.1.0"
}
