import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { newId, type TemplateId, type UserId } from '../core/ids.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'
import type { StateSchema } from '../state/schema.ts'
import type { NewTemplate, Template } from './template.ts'

/** The state that a template begins in. */
const initialStatus = 'UPLOAD_PENDING'

/** Which templates a list is about. */
export interface TemplateFilter {
  readonly ownerId: UserId
  /** True for everybody's public templates instead of one's own. */
  readonly publicOnly: boolean
  /** Part of the name, in upper or lower case; all when empty. */
  readonly searchTerm: string
}

export interface TemplateOrder {
  readonly sortBy: 'created_at' | 'name'
  readonly sortType: 'asc' | 'desc'
}

export interface Slice {
  readonly offset: number
  readonly limit: number
}

export class TemplateStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter
  readonly #clock: Clock

  constructor(state: StateDatabase, writer: StateWriter, clock: Clock) {
    this.#state = state
    this.#writer = writer
    this.#clock = clock
  }

  async create(ownerId: UserId, template: NewTemplate): Promise<Template> {
    const id = newId<TemplateId>()
    const createdAtUs = this.#clock.nowUs()
    await this.#writer.commit(
      this.#state.insertInto('templates').values({
        id,
        owner_id: ownerId,
        created_at: createdAtUs,
        name: template.name,
        description: template.description,
        author: template.author,
        status: initialStatus,
        public: template.public ? 1 : 0,
        hint: template.hint,
        required_streams: JSON.stringify(template.requiredStreams),
      }),
    )
    return { ...template, id, ownerId, createdAtUs, status: initialStatus }
  }

  /** A template that this user may see: an own or a public one. */
  async findVisible(userId: UserId, id: TemplateId): Promise<Template | undefined> {
    const row = await this.#state
      .selectFrom('templates')
      .selectAll()
      .where('id', '=', id)
      .where((where) => where.or([where('owner_id', '=', userId), where('public', '=', 1)]))
      .executeTakeFirst()
    return row && fromRow(row)
  }

  async list(
    filter: TemplateFilter & TemplateOrder,
    { offset, limit }: Slice,
  ): Promise<Template[]> {
    const rows = await this.#matching(filter)
      .selectAll()
      .orderBy(filter.sortBy, filter.sortType)
      .orderBy('id', filter.sortType)
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map(fromRow)
  }

  async count(filter: TemplateFilter): Promise<number> {
    const { total } = await this.#matching(filter)
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return total
  }

  #matching({ ownerId, publicOnly, searchTerm }: TemplateFilter) {
    const all = this.#state.selectFrom('templates')
    const mine = publicOnly ? all.where('public', '=', 1) : all.where('owner_id', '=', ownerId)
    if (searchTerm === '') return mine
    // No LIKE: in a search term, % and _ mean themselves.
    return mine.where(sql<boolean>`instr(lower(name), lower(${searchTerm})) > 0`)
  }
}

function fromRow(row: StateSchema['templates']): Template {
  return {
    id: row.id as TemplateId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    name: row.name,
    description: row.description,
    author: row.author,
    status: row.status,
    public: row.public === 1,
    hint: row.hint,
    requiredStreams: JSON.parse(row.required_streams) as string[],
  }
}
