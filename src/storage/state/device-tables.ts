import type { Defaulted } from './column.ts'

/** Devices, what they may send to, and how they get their keys. */
export interface DeviceTables {
  devices: DeviceTable
  device_streams: DeviceStreamTable
  provisioning_keys: ProvisioningKeyTable
}

/** A device with its credential: its id is its key. */
interface DeviceTable {
  readonly id: string
  readonly owner_id: string
  readonly name: string
  /** The name in lower case: what is looked for. */
  readonly name_folded: string
  /** Digest of the secret, keyed with the master key: hex. */
  readonly secret_digest: string
  /** Digest of the secret before the last rotation, which is good until `previous_until`. */
  readonly previous_digest: string | null
  readonly previous_until: number | null
  readonly rotated_at: number | null
  readonly created_at: number
  /** The key, or the provisioning key, that it was made with. */
  readonly created_by: string
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** The only MQTT client id that it may connect with. */
  readonly client_id: string | null
  /** Common name of the certificates that stand for it; unique. */
  readonly certificate_name: string | null
  readonly readings_per_second: number | null
  readonly burst: number | null
  /** Where it registered itself, and as what: unique together. */
  readonly vault_id: string | null
  readonly serial: string | null
  /** 1: may register itself once more, because its owner allowed it. */
  readonly may_register_again: Defaulted<number>
  readonly last_seen_at: number | null
  readonly last_seen_address: string | null
  readonly last_seen_protocol: string | null
  /** `ignore`: what it does on topics that are not its own is accepted and dropped. */
  readonly foreign_topics: Defaulted<string | null>
}

/** The streams that a device may send to. */
interface DeviceStreamTable {
  readonly device_id: string
  readonly stream_id: string
}

/** A key that new devices of a vault register themselves with. */
interface ProvisioningKeyTable {
  readonly id: string
  readonly owner_id: string
  readonly vault_id: string
  readonly name: string
  /** JSON of the definition of the stream that each device gets, as it was sent. */
  readonly definition: string
  readonly secret_digest: string
  readonly created_at: number
  readonly created_by: string
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly devices_max: number
  readonly devices_registered: Defaulted<number>
  readonly readings_per_second: number | null
  readonly burst: number | null
  readonly registrations_per_minute: number
  /** The fleet whose definition each device gets a stream by, in place of the key's own. */
  readonly fleet_id: Defaulted<string | null>
  /** As of devices: each one that registers itself gets it. */
  readonly foreign_topics: Defaulted<string | null>
}
