import Foundation
import VellumToolKit

exit(await Tool.main())
