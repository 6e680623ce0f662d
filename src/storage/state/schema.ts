import type { AlertTables } from './alert-tables.ts'
import type { AnchorTables } from './anchor-tables.ts'
import type { AssetTables } from './asset-tables.ts'
import type { BackupTable } from './backup-tables.ts'
import type { Defaulted } from './column.ts'
import type { ConsoleSessionTable, ConsoleSettingsTable } from './console-tables.ts'
import type {
  ConsumerPositionTable,
  DepartedCounterTable,
  QuarantineCountTable,
  QuarantineTable,
  StreamCounterTable,
} from './decision-tables.ts'
import type { DeviceTables } from './device-tables.ts'
import type { EventTables } from './event-tables.ts'
import type { AnchoredTable, FileTables } from './file-tables.ts'
import type { FleetTables } from './fleet-tables.ts'
import type { JobTables } from './job-tables.ts'
import type { MailTables } from './mail-tables.ts'
import type { PermissionTables } from './permission-tables.ts'
import type { SealTables } from './seal-tables.ts'
import type { SignatureTables } from './signature-tables.ts'
import type { WebhookTables } from './webhook-tables.ts'

/** The tables of the state database, as Kysely sees them. Times are microseconds since the epoch. */
export interface StateSchema
  extends AlertTables,
    AnchorTables,
    AssetTables,
    DeviceTables,
    EventTables,
    FileTables,
    FleetTables,
    JobTables,
    MailTables,
    PermissionTables,
    SealTables,
    SignatureTables,
    WebhookTables {
  users: UserTable
  user_entities: UserEntityTable
  user_credentials: UserCredentialTable
  api_keys: ApiKeyTable
  console_sessions: ConsoleSessionTable
  console_settings: ConsoleSettingsTable
  signing_keys: SigningKeyTable
  audit_log: AuditLogTable
  templates: TemplateTable
  vaults: VaultTable
  data_streams: DataStreamTable
  data_stream_versions: DataStreamVersionTable
  data_stream_tags: DataStreamTagTable
  data_stream_topics: DataStreamTopicTable
  data_stream_deletions: DataStreamDeletionTable
  stream_sources: StreamSourceTable
  lifecycle_events: LifecycleEventTable
  favorites: FavoriteTable
  totals: TotalTable
  steady_time: SteadyTimeTable
  idempotency_keys: IdempotencyKeyTable
  idempotent_answers: IdempotentAnswerTable
  consumer_positions: ConsumerPositionTable
  stream_counters: StreamCounterTable
  departed_counters: DepartedCounterTable
  quarantine: QuarantineTable
  quarantine_counts: QuarantineCountTable
  backups: BackupTable
}

interface UserTable {
  readonly id: string
  readonly username: string
  readonly first_name: Defaulted<string>
  readonly last_name: Defaulted<string>
  readonly created_at: number
  /** A deleted user's row stays, because what the user owned refers to it. */
  readonly deleted_at: number | null
  /** The CID of the picture; empty without one. */
  readonly image_cid: Defaulted<string>
  /** How many uploads of it were taken. */
  readonly image_uploads: Defaulted<number>
}

interface UserEntityTable {
  readonly id: string
  readonly user_id: string
  readonly created_at: number
  readonly name: string
  readonly description: string
  readonly type: string
}

interface UserCredentialTable {
  readonly id: string
  readonly user_id: string
  readonly created_at: number
  readonly type: string
  readonly identity_provider: string
  readonly key: string
  readonly ledger: string
}

interface ApiKeyTable {
  readonly id: string
  readonly user_id: string
  /** Digest of the secret, keyed with the master key: hex. */
  readonly secret_digest: string
  /** Space-separated. */
  readonly scopes: string
  readonly created_at: number
  readonly name: string
  /** How the scopes were asked for: read_only, read_write, admin or custom. */
  readonly permission: string
  /** `api`, or `bootstrap`: made at a start of the service. */
  readonly origin: string
  /** Digest of the secret before the last rotation, which is good until `previous_until`. */
  readonly previous_digest: string | null
  readonly previous_until: number | null
  readonly rotated_at: number | null
  readonly expires_at: number | null
  /** Only of bootstrap keys, so that no later start brings them back; other rows are removed. */
  readonly revoked_at: number | null
  readonly last_used_at: number | null
  /** `ignore`: what clients do on topics that are not their user's is accepted and dropped. */
  readonly foreign_topics: Defaulted<string | null>
}

interface SigningKeyTable {
  readonly kid: string
  /** SubjectPublicKeyInfo, PEM. */
  readonly public_key: string
  /** PKCS #8, PEM, encrypted with the master key. */
  readonly private_key_encrypted: Uint8Array
  readonly created_at: number
  /** Steady time from which on it signs. */
  readonly signing_since: Defaulted<number>
  /** Set once a newer key signs: until then tokens signed with this one are good. */
  readonly accepted_until: number | null
}

interface AuditLogTable {
  readonly id: string
  readonly at: number
  readonly action: string
  /** Who did it; null when the service did, or nobody known. */
  readonly actor_user_id: string | null
  readonly actor_key_id: string | null
  /** The id of a key, a user or a signing key that it was done to. */
  readonly subject_id: string | null
  /** The user that it is about. */
  readonly user_id: string | null
  readonly address: string | null
  /** JSON object. */
  readonly details: string
}

interface TemplateTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly name: string
  /** The name in lower case: what is searched in, and sorted by. */
  readonly name_folded: string
  readonly description: string | null
  readonly author: string | null
  readonly status: string
  readonly public: number
  readonly hint: string
  /** JSON array of asset codes. */
  readonly required_streams: string
  /** The CID of the folder of its files; empty until they are uploaded. */
  readonly bundle_cid: Defaulted<string>
  /** Bytes of all of them. */
  readonly bundle_size: Defaulted<number>
  readonly image_cid: Defaulted<string>
  /** How many uploads were taken. */
  readonly bundle_uploads: Defaulted<number>
  readonly image_uploads: Defaulted<number>
  readonly metadata_cid: Defaulted<string>
}

interface VaultTable extends AnchoredTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly template_id: string
  readonly name: string
  /** The name in lower case: what is looked for. */
  readonly name_folded: Defaulted<string>
  readonly description: string | null
  readonly public: number
  /** The CID of the folder of its metadata, payload and image; like those below empty until it is known. */
  readonly cid: Defaulted<string>
  readonly metadata_cid: Defaulted<string>
  readonly nft_network_id: Defaulted<string>
  readonly nft_network_issuer: Defaulted<string>
  readonly nft_network_owner: Defaulted<string>
  readonly json_payload: string | null
  /** As of data streams: for those of its streams that say nothing themselves. */
  readonly kept_raw: string | null
  readonly kept_aggregated: string | null
  /** The image of its template, as it was when the vault was made. */
  readonly default_image_cid: Defaulted<string>
  readonly image_cid: Defaulted<string>
  /** How many uploads of an image were taken. */
  readonly image_uploads: Defaulted<number>
}

interface DataStreamTable {
  readonly id: string
  readonly owner_id: string
  readonly vault_id: string
  readonly name: string
  readonly type: string
  readonly created_at: number
  /** The newest version. */
  readonly version: number
  /** The name in lower case: what is looked for. */
  readonly name_folded: string
  /** JSON object of texts. */
  readonly tags: string
  /** Since when it takes no readings. */
  readonly paused_at: number | null
  /** The time of the newest event of a stream of the type `service`. */
  readonly last_event_at: number | null
  /** How long readings are kept, and what was worked out from them: `30d`, `forever`; null: as the vault says. */
  readonly kept_raw: string | null
  readonly kept_aggregated: string | null
}

interface DataStreamVersionTable {
  readonly stream_id: string
  readonly version: number
  readonly name: string
  /** JSON object of texts. */
  readonly tags: string
  /** JSON of source, schema and processing. */
  readonly definition: string
  readonly created_at: number
  /** The key of who made it; null for what was made before this was written down. */
  readonly created_by: string | null
}

/** The tags of the streams once more: what a list is searched by. */
interface DataStreamTagTable {
  readonly stream_id: string
  readonly owner_id: string
  readonly key: string
  readonly value: string
}

/** Topics of streams other than their own: what messages on them are for. */
interface DataStreamTopicTable {
  readonly stream_id: string
  readonly owner_id: string
  /** A filter of MQTT topics, with wildcards. */
  readonly filter: string
}

/** A stream that was deleted, and how far its data is removed. */
interface DataStreamDeletionTable {
  readonly stream_id: string
  readonly owner_id: string
  readonly name: string
  readonly deleted_at: number
  /** Where the journal has no more of it; null until that is known. */
  readonly journal_offset: number | null
  readonly removed_at: number | null
  readonly removed_readings: number
  readonly removed_quarantine: number
}

/** Where a stream gets its readings that is fed by a source which is asked for them. */
interface StreamSourceTable {
  readonly stream_id: string
  readonly owner_id: string
  /** JSON of the secrets by their place, encrypted with the master key. */
  readonly secrets_encrypted: Uint8Array
  /** How far it has been read: JSON, as it stood in the journal. */
  readonly position: Defaulted<string | null>
}

/** An event of the service itself that a stream of such events has not been told yet. */
interface LifecycleEventTable {
  readonly stream_id: string
  readonly at: number
  /** JSON object. */
  readonly reading: string
}

interface FavoriteTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly type: string
  readonly ref: string
}

/** How many rows a list has: counting a million of them for each page would take too long. */
interface TotalTable {
  readonly list: string
  /** Whose list; empty for a list that everybody shares. */
  readonly owner_id: string
  readonly total: number
}

/** The time of receipt of pushed readings, by the key of their request. */
interface IdempotencyKeyTable {
  readonly user_id: string
  readonly stream_id: string
  /** Digest, keyed with the master key. */
  readonly key: string
  readonly body_digest: string
  /** The time of receipt that every repetition of the request gets again. */
  readonly received_at: number
  /** When it came, in steady time: how long it is remembered counts from there. */
  readonly remembered_at: number
}

/** One moment by all clocks, when it was written down last. */
interface SteadyTimeTable {
  /** 1; the row 2 has as its wall clock the latest instant that was ever seen. */
  readonly id: number
  /** The id of the boot of the machine; empty where it is not known. */
  readonly boot_id: string
  /** By the machine's monotonic clock. */
  readonly machine_at: number
  readonly steady_at: number
  readonly wall_at: number
}

/** The answer of a POST, by the key of its request. */
interface IdempotentAnswerTable {
  readonly user_id: string
  readonly path: string
  /** Digest, keyed with the master key: with credentials, a key is as good as what it was answered. */
  readonly key: string
  /** As the key: a body may have a secret in it. */
  readonly body_digest: string
  readonly status_code: number
  /** JSON, encrypted with the master key: an answer may hold a secret. */
  readonly body_encrypted: Uint8Array
  /** In steady time. */
  readonly created_at: number
}
