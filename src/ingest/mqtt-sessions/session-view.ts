/** What a session is named by: what its client has called itself, and the device that it is. */
export interface SessionName {
  readonly clientId: string
  readonly deviceId: string | undefined
}

/** A session of MQTT as its user sees it. */
export interface SessionView extends SessionName {
  /** Id for lists: unique among the sessions of the user. */
  readonly id: string
  /** Whether it outlives the connection. */
  readonly isKept: boolean
  /** Who is connected with it now. */
  readonly connection: { readonly apiKeyId: string; readonly address: string } | undefined
  readonly createdAtUs: number
  /** Time since which it is connected, or is not any more. */
  readonly sinceUs: number
  /** When it ends unless its client comes back before; undefined while it is connected. */
  readonly expiresAtUs: number | undefined
  readonly filters: {
    readonly count: number
    readonly all: () => Iterable<{ readonly filter: string; readonly qos: number }>
  }
  readonly queued: number
  /** Bytes of the topics and payloads that wait. */
  readonly queuedBytes: number
}
