// With this one import, the names of URLSession below hide FoundationNetworking's; its other types stay as they are.
@_exported public import Foundation
@_exported public import FoundationNetworking
