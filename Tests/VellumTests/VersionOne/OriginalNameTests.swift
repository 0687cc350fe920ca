import TestThreads
import Testing

@testable import Vellum

/// The names that version 1 gave to folders. Those here are what its function returned.
@Suite(.ownThreads)
struct OriginalNameTests {
    @Test(arguments: [
        ("User", "vellum_user"),
        ("UserProfile", "vellum_user_profile"),
        ("HTTPServer", "vellum_http_server"),
        ("UserV2", "vellum_user_v_2"),
        ("iPhoneModel", "vellum_i_phone_model"),
        ("URL", "vellum_url"),
        ("A1B2", "vellum_a_1_b_2"),
        ("Box<Int>", "vellum_box_int"),
        ("Box<Array<UserProfile>>", "vellum_box_array_user_profile"),
        ("snake_case", "vellum_snakecase"),
        ("ÄrztinPraxis", "vellum_ärztin_praxis"),
        ("𝒳Type🛶NameEnd", "vellum_𝒳type_name_end"),
        ("Über1Größe", "vellum_über1_größe"),
        ("X", "vellum_x"),
        ("ABTest", "vellum_ab_test"),
        ("MyJSONDecoder3", "vellum_my_json_decoder3"),
    ])
    func aTypeHasTheFolderOfTheOriginal(_ type: String, _ folder: String) {
        #expect(OriginalName.made(of: type) == folder)
    }
}
