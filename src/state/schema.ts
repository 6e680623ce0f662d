import type { Generated } from 'kysely'

/** The tables of the state database, as Kysely sees them. Times are microseconds since the epoch. */
export interface StateSchema {
  users: UserTable
  api_keys: ApiKeyTable
  signing_keys: SigningKeyTable
  templates: TemplateTable
  vaults: VaultTable
  data_streams: DataStreamTable
  data_stream_versions: DataStreamVersionTable
  favorites: FavoriteTable
  totals: TotalTable
  idempotency_keys: IdempotencyKeyTable
  idempotent_answers: IdempotentAnswerTable
  consumer_positions: ConsumerPositionTable
  stream_counters: StreamCounterTable
  quarantine: QuarantineTable
}

interface UserTable {
  readonly id: string
  readonly username: string
  readonly created_at: number
}

interface ApiKeyTable {
  readonly id: string
  readonly user_id: string
  /** Digest of the secret, keyed with the master key: hex. */
  readonly secret_digest: string
  /** Space-separated. */
  readonly scopes: string
  readonly created_at: number
}

interface SigningKeyTable {
  readonly kid: string
  /** SubjectPublicKeyInfo, PEM. */
  readonly public_key: string
  /** PKCS #8, PEM, encrypted with the master key. */
  readonly private_key_encrypted: Uint8Array
  readonly created_at: number
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
}

interface VaultTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly template_id: string
  readonly name: string
  readonly description: string | null
  readonly status: string
  readonly ledger: string
  readonly public: number
  readonly json_payload: string | null
}

interface DataStreamTable {
  readonly id: string
  readonly owner_id: string
  readonly vault_id: string
  readonly name: string
  readonly type: string
  readonly created_at: number
  readonly version: number
}

interface DataStreamVersionTable {
  readonly stream_id: string
  readonly version: number
  /** JSON of the parts of the definition that can change: source, schema, processing. */
  readonly definition: string
  readonly created_at: number
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
  readonly key: string
  readonly body_digest: string
  /** The time of receipt that every repetition of the request gets again. */
  readonly received_at: number
}

/** The answer of a POST, by the key of its request. */
interface IdempotentAnswerTable {
  readonly user_id: string
  readonly path: string
  readonly key: string
  readonly body_digest: string
  readonly status_code: number
  /** JSON, encrypted with the master key: an answer may hold a secret. */
  readonly body_encrypted: Uint8Array
  readonly created_at: number
}

interface ConsumerPositionTable {
  readonly consumer: string
  readonly next_offset: number
}

/** What the decider has counted of a stream, up to its position. */
interface StreamCounterTable {
  readonly stream_id: string
  readonly received: number
  readonly accepted: number
  readonly quarantined: number
  readonly discarded: number
  /** Entries and bytes that the quarantine holds now. */
  readonly quarantine_entries: number
  readonly quarantine_bytes: number
  readonly last_received_at: number
  /** Days since the epoch (UTC) of the newest receipt, and how many were received on it. */
  readonly day: number
  readonly received_on_day: number
}

interface QuarantineTable {
  readonly id: Generated<number>
  readonly stream_id: string
  readonly journal_offset: number
  readonly stream_version: number
  readonly reason: string
  readonly message: string
  /** JSON array of {path, message}. */
  readonly details: string
  readonly payload: Uint8Array
  readonly timestamp: number | null
  readonly received_at: number
  readonly source: string
}
