/// Optionals, half of them `nil`, and enums with raw values and with payloads.
struct Order: Coded {
    static let title = "optionals and enums"
    static let batch = 50

    let id: Int
    let status: Status
    let priority: Priority
    let payment: Payment
    let delivery: Delivery?
    let coupon: String?
    let discount: Double?
    /// Seconds since 1970.
    let deliveredAt: Int?
    let rating: Int?
    let isInsured: Bool?
    let note: String?
    let gift: Gift?

    enum Status: String, Codable, CaseIterable {
        case placed, paid, sent, delivered, returned
    }

    enum Priority: Int, Codable, CaseIterable {
        case low, normal, high
    }

    enum Payment: Codable, Equatable {
        case card(holder: String, digits: String, expires: Int)
        case transfer(iban: String)
        case cash
    }

    enum Delivery: Codable, Equatable {
        case post(street: String, city: String)
        case locker(number: Int)
    }

    struct Gift: Codable, Equatable {
        let recipient: String
        let greeting: String?
    }

    static func make(_ index: Int) -> Order {
        var prose = Prose(index)
        func half<Value>(_ value: Value) -> Value? { prose.isTrue(oneIn: 2) ? value : nil }
        return Order(
            id: 100_000 + index,
            status: prose.one(of: Status.allCases),
            priority: prose.one(of: Priority.allCases),
            payment: Payment(&prose),
            delivery: half(Delivery(&prose)),
            coupon: half("SAVE" + prose.digits(4)),
            discount: half(prose.number(1...50, places: 2)),
            deliveredAt: half(prose.number(1_500_000_000...1_750_000_000)),
            rating: half(prose.number(1...5)),
            isInsured: half(prose.isTrue(oneIn: 2)),
            note: half(prose.sentence(.english)),
            gift: half(Gift(recipient: prose.firstName(), greeting: half(prose.sentence(.french))))
        )
    }

    var message: OrderMessage {
        .with {
            ($0.id, $0.status, $0.priority, $0.payment) = (
                Int64(id), status.message, priority.message, payment.message
            )
            if let delivery { $0.delivery = delivery.message }
            if let coupon { $0.coupon = coupon }
            if let discount { $0.discount = discount }
            if let deliveredAt { $0.deliveredAt = Int64(deliveredAt) }
            if let rating { $0.rating = Int64(rating) }
            if let isInsured { $0.isInsured = isInsured }
            if let note { $0.note = note }
            if let gift { $0.gift = gift.message }
        }
    }
}

extension Order.Status {
    fileprivate var message: OrderMessage.Status {
        switch self {
        case .placed: .placed
        case .paid: .paid
        case .sent: .sent
        case .delivered: .delivered
        case .returned: .returned
        }
    }
}

extension Order.Priority {
    fileprivate var message: OrderMessage.Priority {
        switch self {
        case .low: .low
        case .normal: .normal
        case .high: .high
        }
    }
}

extension Order.Payment {
    fileprivate init(_ prose: inout Prose) {
        switch prose.number(0...2) {
        case 0:
            self = .card(
                holder: "\(prose.firstName()) \(prose.lastName())",
                digits: prose.digits(16),
                expires: prose.number(2026...2032)
            )
        case 1: self = .transfer(iban: "DE" + prose.digits(20))
        default: self = .cash
        }
    }

    fileprivate var message: OrderMessage.Payment {
        .with {
            switch self {
            case .card(let holder, let digits, let expires):
                $0.card = .with {
                    ($0.holder, $0.digits, $0.expires) = (holder, digits, Int64(expires))
                }
            case .transfer(let iban): $0.transfer = .with { $0.iban = iban }
            case .cash: $0.cash = OrderMessage.Cash()
            }
        }
    }
}

extension Order.Delivery {
    fileprivate init(_ prose: inout Prose) {
        self =
            prose.isTrue(oneIn: 2)
            ? .post(street: prose.street(), city: prose.city())
            : .locker(number: prose.number(1...9999))
    }

    fileprivate var message: OrderMessage.Delivery {
        .with {
            switch self {
            case .post(let street, let city):
                $0.post = .with { ($0.street, $0.city) = (street, city) }
            case .locker(let number): $0.locker = .with { $0.number = Int64(number) }
            }
        }
    }
}

extension Order.Gift {
    fileprivate var message: OrderMessage.Gift {
        .with {
            $0.recipient = recipient
            if let greeting { $0.greeting = greeting }
        }
    }
}
