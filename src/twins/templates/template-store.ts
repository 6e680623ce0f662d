import { type Compilable, type Selectable, sql } from 'kysely'
import { type EarlierSalts, saltFor } from '../../anchors/metadata/earlier-salt.ts'
import { keptMetadata } from '../../anchors/metadata/metadata-rows.ts'
import type { Clock } from '../../core/clock.ts'
import { newId, type TemplateId, type UserId } from '../../core/ids.ts'
import { givenRoom, imageOf, releasedFiles, sizeOf } from '../../files/contents/content-rows.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { type Listing, pageOf, type Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, everybody, isBelow } from '../../storage/state/totals.ts'
import { NameSearch } from './name-search.ts'
import {
  foldName,
  type NewTemplate,
  pendingStatus,
  type Template,
  type TemplateChange,
  withoutFiles,
} from './template.ts'
import { templateMetadata } from './template-metadata.ts'

/** Templates of one user: more than a person makes, and what a list still answers quickly from. */
export const templatesMax = 1_000_000

const columns = [
  'id',
  'owner_id',
  'created_at',
  'name',
  'name_folded',
  'description',
  'author',
  'status',
  'public',
  'hint',
  'required_streams',
  'metadata_cid',
] as const

/** Which templates a list is about, and in which order. */
export interface TemplateQuery {
  readonly userId: UserId
  /** True for everybody's public templates instead of one's own. */
  readonly publicOnly: boolean
  /** Part of the name, in upper or lower case; all when empty. */
  readonly searchTerm: string
  readonly sortBy: 'created_at' | 'name'
  readonly sortType: 'asc' | 'desc'
}

export interface TemplatePage {
  readonly templates: readonly Template[]
  readonly total: number
}

export interface TemplateStoreNeeds extends EarlierSalts {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

export class TemplateStore {
  readonly #needs: TemplateStoreNeeds
  readonly #search: NameSearch

  constructor(needs: TemplateStoreNeeds) {
    this.#needs = needs
    this.#search = new NameSearch(needs.state)
  }

  /** A new template, and the changes that store it: none can be made when the user has too many. */
  async plan(
    ownerId: UserId,
    wanted: NewTemplate,
  ): Promise<{ readonly template: Template; readonly changes: readonly Compilable[] }> {
    const { state, clock } = this.#needs
    const id = newId<TemplateId>()
    const createdAtUs = clock.nowUs()
    const made = { ...wanted, ...withoutFiles, id, ownerId, createdAtUs, status: pendingStatus }
    const metadata = await templateMetadata(made)
    const template = { ...made, metadataCid: metadata.cid }
    const { name, description, author, hint, requiredStreams } = template
    const insert = state
      .insertInto('templates')
      .columns(columns)
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${createdAtUs}, ${name}, ${foldName(name)}, ${description},
                ${author}, ${pendingStatus}, ${template.public ? 1 : 0}, ${hint},
                ${JSON.stringify(requiredStreams)}, ${metadata.cid}
              WHERE ${isBelow('templates', ownerId, templatesMax)}`,
      )
    return {
      template,
      changes: [
        insert,
        keptMetadata(state, id, metadata),
        countChange(state, 'templates', ownerId, 1),
        ...(template.public ? [this.#countPublic(1)] : []),
      ],
    }
  }

  /**
   * A template with its metadata: one from before there were any gets them now, as it is. They stay what they are once a
   * vault may refer to them.
   */
  async withMetadata(template: Template): Promise<Template> {
    if (template.metadataCid !== '') return template
    const { state, writer } = this.#needs
    const salt = template.public ? undefined : saltFor(this.#needs, template.id)
    const metadata = await templateMetadata(template, salt)
    await writer.attempt(
      state
        .updateTable('templates')
        .set({ metadata_cid: metadata.cid })
        .where('id', '=', template.id)
        .where('metadata_cid', '=', ''),
      keptMetadata(state, template.id, metadata),
    )
    // Somebody else may have been first.
    return (await this.load(template.id)) ?? template
  }

  /** A template of whatever user. */
  async load(id: string): Promise<Template | undefined> {
    const row = await this.#needs.state
      .selectFrom('templates')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** A template that this user may see: an own or a public one. */
  async findVisible(userId: UserId, id: TemplateId): Promise<Template | undefined> {
    const row = await this.#needs.state
      .selectFrom('templates')
      .selectAll()
      .where('id', '=', id)
      .where((where) => where.or([where('owner_id', '=', userId), where('public', '=', 1)]))
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** @throws DomainError `overloaded` when too many search at once */
  async list(query: TemplateQuery, slice: Slice): Promise<TemplatePage> {
    const listing = listingOf(query)
    const { rows, total } =
      query.searchTerm === ''
        ? await pageOf(this.#needs.state, listing, slice)
        : await this.#search.pageOf(
            { userId: query.userId, listing, term: foldName(query.searchTerm) },
            slice,
          )
    return { templates: rows.map(fromRow), total }
  }

  /**
   * Changes an own template, with what else belongs to the change. False when it is no longer what
   * was read: read again.
   */
  async change(
    template: Template,
    change: TemplateChange,
    ...also: readonly Compilable[]
  ): Promise<boolean> {
    const { state, writer } = this.#needs
    const { name, requiredStreams, public: isPublic, ...same } = change
    const values = {
      ...same,
      ...(name !== undefined && { name, name_folded: foldName(name) }),
      ...(isPublic !== undefined && { public: isPublic ? 1 : 0 }),
      ...(requiredStreams !== undefined && { required_streams: JSON.stringify(requiredStreams) }),
    }
    if (Object.keys(values).length === 0) return true
    const update = state
      .updateTable('templates')
      .set(values)
      .where('id', '=', template.id)
      .where('owner_id', '=', template.ownerId)
      .where('public', '=', template.public ? 1 : 0)
    const turnsPublic = Number(isPublic ?? template.public) - Number(template.public)
    const counting = turnsPublic === 0 ? [] : [this.#countPublic(turnsPublic > 0 ? 1 : -1)]
    return await writer.attempt(update, ...counting, ...also)
  }

  /** Removes an own template that no vault uses. False when one does, or it has changed. */
  async remove(template: Template, ...also: readonly Compilable[]): Promise<boolean> {
    const { state, writer } = this.#needs
    const { id, ownerId } = template
    const removal = state
      .deleteFrom('templates')
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .where('public', '=', template.public ? 1 : 0)
      .where('bundle_cid', '=', template.bundleCid)
      .where((is) =>
        is.not(is.exists(is.selectFrom('vaults').select('id').where('template_id', '=', id))),
      )
    return await writer.attempt(
      // What its image takes is found by the row.
      givenRoom(state, ownerId, sizeOf(imageOf('templates', id))),
      givenRoom(state, ownerId, sql<number>`${template.bundleSize}`),
      removal,
      releasedFiles(state, id),
      optional(state.deleteFrom('metadata').where('resource_id', '=', id)),
      countChange(state, 'templates', ownerId, -1),
      ...(template.public ? [this.#countPublic(-1)] : []),
      ...also,
    )
  }

  async isUsed(id: TemplateId): Promise<boolean> {
    const vault = await this.#needs.state
      .selectFrom('vaults')
      .select('id')
      .where('template_id', '=', id)
      .limit(1)
      .executeTakeFirst()
    return vault !== undefined
  }

  #countPublic(difference: 1 | -1): Compilable {
    return countChange(this.#needs.state, 'public_templates', everybody, difference)
  }
}

function listingOf({ userId, publicOnly, sortBy, sortType }: TemplateQuery): Listing<'templates'> {
  return {
    table: 'templates',
    // The literal 1: an index over public rows is not used for a parameter.
    condition: publicOnly ? sql<boolean>`public = 1` : sql<boolean>`owner_id = ${userId}`,
    orderBy: sortBy === 'name' ? 'name_folded' : 'created_at',
    direction: sortType,
    total: publicOnly ? ['public_templates', everybody] : ['templates', userId],
  }
}

function fromRow(row: Selectable<StateSchema['templates']>): Template {
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
    bundleCid: row.bundle_cid,
    bundleSize: row.bundle_size,
    bundleUploads: row.bundle_uploads,
    imageCid: row.image_cid,
    imageUploads: row.image_uploads,
    metadataCid: row.metadata_cid,
  }
}
