import type { Clock } from '../core/clock.ts'
import { newId, type TemplateId, type UserId, type VaultId } from '../core/ids.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'
import type { StateSchema } from '../state/schema.ts'
import type { Ledger, NewVault, Vault } from './vault.ts'

/** The state that a vault begins in (D50). */
const initialStatus = 'SERVICE_RECEIVED'

/** Where the page before ended: vaults are listed in the order of their creation. */
export interface VaultCursor {
  readonly createdAtUs: number
  readonly id: string
}

export class VaultStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter
  readonly #clock: Clock

  constructor(state: StateDatabase, writer: StateWriter, clock: Clock) {
    this.#state = state
    this.#writer = writer
    this.#clock = clock
  }

  async create(ownerId: UserId, vault: NewVault): Promise<Vault> {
    const id = newId<VaultId>()
    const createdAtUs = this.#clock.nowUs()
    await this.#writer.commit(
      this.#state.insertInto('vaults').values({
        id,
        owner_id: ownerId,
        created_at: createdAtUs,
        template_id: vault.templateId,
        name: vault.name,
        description: vault.description,
        status: initialStatus,
        ledger: vault.ledger,
        public: vault.public ? 1 : 0,
        json_payload: vault.jsonPayload,
      }),
    )
    return { ...vault, id, ownerId, createdAtUs, status: initialStatus }
  }

  /** A vault that this user may see: an own or a public one (D13). */
  async findVisible(userId: UserId, id: VaultId): Promise<Vault | undefined> {
    const row = await this.#state
      .selectFrom('vaults')
      .selectAll()
      .where('id', '=', id)
      .where((where) => where.or([where('owner_id', '=', userId), where('public', '=', 1)]))
      .executeTakeFirst()
    return row && fromRow(row)
  }

  async findOwn(ownerId: UserId, id: VaultId): Promise<Vault | undefined> {
    const vault = await this.findVisible(ownerId, id)
    return vault?.ownerId === ownerId ? vault : undefined
  }

  async listPage(ownerId: UserId, offset: number, limit: number): Promise<Vault[]> {
    const rows = await this.#own(ownerId)
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map(fromRow)
  }

  async listAfter(
    ownerId: UserId,
    after: VaultCursor | undefined,
    limit: number,
  ): Promise<Vault[]> {
    let query = this.#own(ownerId).selectAll().orderBy('created_at').orderBy('id').limit(limit)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map(fromRow)
  }

  async count(ownerId: UserId): Promise<number> {
    const { total } = await this.#own(ownerId)
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return total
  }

  #own(ownerId: UserId) {
    return this.#state.selectFrom('vaults').where('owner_id', '=', ownerId)
  }
}

function fromRow(row: StateSchema['vaults']): Vault {
  return {
    id: row.id as VaultId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    templateId: row.template_id as TemplateId,
    name: row.name,
    description: row.description,
    status: row.status,
    ledger: row.ledger as Ledger,
    public: row.public === 1,
    jsonPayload: row.json_payload,
  }
}
