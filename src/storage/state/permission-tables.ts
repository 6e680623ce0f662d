/** What an owner lets somebody else do. */
export interface PermissionTable {
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
  /** What has ended it before its time: `user_deleted` or `resource_deleted`. */
  readonly ended_by: string | null
}
