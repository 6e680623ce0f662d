import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { TokenBucket } from '../../src/core/token-bucket.ts'
import type { MqttClientCertificate } from './guard/client-certificates.ts'

/** What a client says who it is. */
export interface MqttCredentials {
  /** A key and its secret, or `bearer` and a token. */
  readonly username: string
  readonly password: string
  readonly address: string
  /** Certificate of a client that has sent neither user name nor password. */
  readonly certificate?: MqttClientCertificate
}

/** What a device may do: less than its user. */
export interface MqttDevice {
  readonly id: string
  readonly streamIds: ReadonlySet<StreamId>
  /** The only client id that it may connect with. Undefined: any. */
  readonly clientId: string | undefined
  /** How many readings it may send. Undefined: as many as anybody. */
  readonly bucket: TokenBucket | undefined
}

/** Who connects, and what for. */
export interface MqttCaller {
  readonly userId: UserId
  readonly apiKeyId: string
  /** False: the client may connect, but what it publishes is dropped. */
  readonly mayPublish: boolean
  /** False: every subscription is refused. */
  readonly maySubscribe: boolean
  /** When the session has to end. Undefined: not by itself. */
  readonly expiresAtUs: number | undefined
  /** Whether what it does on topics that are none of its own is taken, and comes to nothing. */
  readonly ignoresForeignTopics: boolean
  /** Set for a device. */
  readonly device?: MqttDevice
}
