export interface PermissionTables {
  permissions: PermissionTable
  departed_users: DepartedUserTable
}

/** What an owner lets somebody else do. */
interface PermissionTable {
  readonly id: string
  /** `vault` or `asset_stream`. */
  readonly resource_type: string
  readonly resource_id: string
  /** When the resource was made: lists are in this order. */
  readonly resource_created_at: number
  /** Whose resource it is. */
  readonly owner_id: string
  /** Who may do something with it. */
  readonly user_id: string
  /** `READ` or `WRITE`. */
  readonly role: string
  readonly granted_by: string
  readonly created_at: number
  /**
   * By the wall clock; null without an end. From then on it counts nowhere, whether or not the row is still there. 0 when
   * something else has ended it.
   */
  readonly expires_at: number | null
  /** What has ended it before its time: `resource_deleted`, or `user_deleted` in rows of before. */
  readonly ended_by: string | null
}

/** A user who was deleted: no permission of the user counts, granted or had, although there are rows of some. */
interface DepartedUserTable {
  readonly user_id: string
  /** By the wall clock. */
  readonly departed_at: number
}
