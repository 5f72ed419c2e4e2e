// SPDX-License-Identifier: Apache-2.0

/// What the administrator has decided in the configuration, evaluated whenever it is asked for.
public struct AdministratorRules: Hashable, Sendable {
    /// Which programs a rule is about.
    public enum Program: Hashable, Sendable {
        /// One program, known in one way.
        case one(Subject.Kind, id: String)
        /// All that no other rule is about.
        case others
    }

    /// One decision.
    public struct Rule: Hashable, Sendable {
        /// What the programs may know.
        public var authorization: Authorization
        /// The users that it holds for; `nil` for all.
        public var users: Set<UInt32>?

        /// Makes a decision.
        public init(_ authorization: Authorization, users: Set<UInt32>? = nil) {
            self.authorization = authorization
            self.users = users
        }

        func holds(for userID: UInt32) -> Bool { users?.contains(userID) ?? true }
    }

    /// The decisions.
    public var rules: [Program: Rule]

    /// Makes a set of decisions.
    public init(_ rules: [Program: Rule] = [:]) {
        self.rules = rules
    }

    /// Whether a rule names a program, whatever it decides: an executable that is named is known
    /// by its path even where another way would come first.
    public func names(_ kind: Subject.Kind, id: String) -> Bool {
        rules[.one(kind, id: id)] != nil
    }

    /// Whether a rule names a program and does not let it know.
    public func rulesOut(_ kind: Subject.Kind, id: String) -> Bool {
        rules[.one(kind, id: id)].map { !$0.authorization.status.permitsLocations } ?? false
    }

    /// Adds a rule; of two about the same program the stricter one holds, for the users of both.
    ///
    /// - Returns: Whether there was one already.
    @discardableResult
    public mutating func add(_ rule: Rule, for program: Program) -> Bool {
        guard let known = rules[program] else {
            rules[program] = rule
            return false
        }
        let users = known.users.flatMap { one in rule.users.map { one.union($0) } }
        let stricter = known.authorization.isStricter(than: rule.authorization) ? known : rule
        rules[program] = Rule(stricter.authorization, users: users)
        return true
    }

    /// What a program may know.
    ///
    /// Without a decision it is not determined.
    public func authorization(of subject: Subject) -> Authorization {
        for program in [Program.one(subject.kind, id: subject.id), .others] {
            if let rule = rules[program], rule.holds(for: subject.userID) {
                return rule.authorization
            }
        }
        return .notDetermined
    }
}
