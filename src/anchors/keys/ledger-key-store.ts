import type { Compilable, Selectable } from 'kysely'
import type { Actor, AuditLog } from '../../access/audit/audit-log.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { type Ledger, ledgers } from '../../core/ledger.ts'
import type { KeyPair, KeyRole, PublicKey } from '../../ledgers/keys/ledger-key.ts'
import { localSigner } from '../../ledgers/keys/local-signer.ts'
import type { Cipher } from '../../ledgers/sandbox/keys.ts'
import type { Signer } from '../../ledgers/signer.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'

/** A key of an account, as those who run the service see it. */
export interface LedgerKey extends PublicKey {
  /** The ledger that is set to this network now; undefined where none is. */
  readonly ledger: Ledger | undefined
  readonly network: string
  readonly role: KeyRole
  readonly createdAtUs: number
  /** Whether the master key opens it. */
  readonly isReadable: boolean
}

interface LedgerKeyStoreNeeds {
  readonly state: StateDatabase
  readonly cipher: Cipher
  readonly clock: Clock
  readonly audit: Pick<AuditLog, 'entry'>
  readonly networks: Readonly<Record<Ledger, string>>
}

/** What a new key is for, and where it comes from. */
interface WantedKey {
  readonly ledger: Ledger
  readonly role: KeyRole
  readonly pair: KeyPair
  /** Whether somebody has brought it along. */
  readonly isImported: boolean
}

interface PlannedKey {
  readonly key: LedgerKey
  readonly changes: readonly Compilable[]
  readonly refusal: () => Promise<DomainError>
}

type Row = Selectable<StateSchema['ledger_keys']>

/** The keystore: accounts of ours on real networks, encrypted with the master key. */
export class LedgerKeyStore {
  readonly #needs: LedgerKeyStoreNeeds

  constructor(needs: LedgerKeyStoreNeeds) {
    this.#needs = needs
  }

  /** Keys of all networks, also of those that no ledger is set to any more. */
  async list(): Promise<readonly LedgerKey[]> {
    const { state } = this.#needs
    const rows = await state
      .selectFrom('ledger_keys')
      .selectAll()
      .orderBy('network')
      .orderBy('role', 'desc')
      .execute()
    return rows.map((row) => this.#keyOf(row))
  }

  /** A key stays for ever: what it has signed and what it owns is on the network. */
  plan(actor: Actor, { ledger, role, pair, isImported }: WantedKey): PlannedKey {
    const { state, cipher, clock, audit, networks } = this.#needs
    const network = networks[ledger]
    const { algorithm, account, publicKey: public_key } = pair
    const row: Row = {
      network,
      role,
      algorithm,
      account,
      public_key,
      private_key_encrypted: cipher.encrypt(pair.privateKey),
      created_at: clock.nowUs(),
    }
    return {
      key: this.#keyOf(row),
      changes: [
        state
          .insertInto('ledger_keys')
          .values(row)
          .onConflict((same) => same.doNothing()),
        audit.entry({
          action: isImported ? 'ledger_key.imported' : 'ledger_key.created',
          actor,
          subjectId: account,
          details: { ledger, network, role },
        }),
      ],
      refusal: async () => await this.#refusal(row),
    }
  }

  async #refusal({ network, role, account }: Row): Promise<DomainError> {
    const keys = await this.list()
    const same = keys.find((key) => key.network === network && key.account === account)
    const message = same
      ? `${account} is the ${same.role} of ${network} already`
      : `${network} has a key for its ${role} already`
    return conflict(
      message,
      'GET /ledger-keys lists the keys; name another network or role, or an account that has none.',
    )
  }

  #keyOf(row: Row): LedgerKey {
    const { network, role, account, algorithm, public_key, created_at } = row
    const { networks, cipher } = this.#needs
    return {
      ledger: ledgers.find((one) => networks[one] === network),
      network,
      role: role as KeyRole,
      account,
      algorithm: algorithm as Signer['algorithm'],
      publicKey: public_key,
      createdAtUs: created_at,
      isReadable: privateKeyIn(row, cipher) !== undefined,
    }
  }
}

/** An account of ours, with what signs for it. */
export interface LedgerAccount {
  readonly account: string
  readonly signer: Signer
}

/**
 * The account of a network for a role; undefined where no key was made.
 *
 * @throws Error when the key does not fit the master key
 */
export async function ledgerAccount(
  state: StateDatabase,
  cipher: Pick<Cipher, 'decrypt'>,
  { network, role }: { readonly network: string; readonly role: KeyRole },
): Promise<LedgerAccount | undefined> {
  const row = await state
    .selectFrom('ledger_keys')
    .selectAll()
    .where('network', '=', network)
    .where('role', '=', role)
    .executeTakeFirst()
  if (!row) return undefined
  const privateKey = privateKeyIn(row, cipher)
  if (privateKey === undefined) throw new Error(unreadable(row))
  const algorithm = row.algorithm as Signer['algorithm']
  const signer = localSigner({ algorithm, publicKey: row.public_key, privateKey })
  return { account: row.account, signer }
}

/** What is said of a key that nobody can sign with. */
function unreadable({ network, role }: Pick<Row, 'network' | 'role'>): string {
  return `the key of the ${role} of ${network} does not fit the master key`
}

/** What the cipher says itself may one day show what it was given. */
function privateKeyIn(row: Row, cipher: Pick<Cipher, 'decrypt'>): string | undefined {
  try {
    const text = cipher.decrypt(row.private_key_encrypted)
    return /^[\da-f]{64}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}
