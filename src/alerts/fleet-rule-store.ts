import { type Compilable, type Selectable, sql } from 'kysely'
import type { AlertRule } from '../../processors/alert-rules.ts'
import type { Clock } from '../core/clock.ts'
import { type AlertRuleId, newId, type UserId, type VaultId } from '../core/ids.ts'
import type { ListCursor } from '../core/list-cursor.ts'
import { optional, type StateDatabase } from '../storage/state/database.ts'
import type { StateSchema } from '../storage/state/schema.ts'
import { idsThatMeet } from '../streams/data-streams/stream-list.ts'
import { type FleetRule, type FleetRuleContent, fleetRulesMax } from './fleet-rule.ts'

/** Streams that are named of those that are left out. */
const namedMax = 100

const newColumns = [
  'id',
  'owner_id',
  'name',
  'vault_id',
  'tags',
  'rule',
  'created_at',
  'updated_at',
  'revision',
] as const

/** How the streams of a rule stand. */
export interface FleetRuleStreams {
  readonly matching: number
  /** Streams that have not been looked at since something was changed. */
  readonly pending: number
  readonly leftOut: number
  readonly examples: readonly { readonly streamId: string; readonly reason: string }[]
}

/** Rules of fleets, as their owners see them. Each change also says which streams are concerned. */
export class FleetRuleStore {
  readonly #state: StateDatabase
  readonly #clock: Clock

  constructor(state: StateDatabase, clock: Clock) {
    this.#state = state
    this.#clock = clock
  }

  /** A new rule, and the changes that store it; they find nothing when the owner has too many. */
  plan(
    ownerId: UserId,
    content: FleetRuleContent,
  ): { readonly rule: FleetRule; readonly changes: readonly Compilable[] } {
    const nowUs = this.#clock.nowUs()
    const times = { createdAtUs: nowUs, updatedAtUs: nowUs }
    const rule = { ...content, ...times, id: newId<AlertRuleId>(), ownerId, revision: 1 }
    const { name, vaultId = null, tags, rule: given, id } = rule
    const insert = this.#state
      .insertInto('alert_rules')
      .columns(newColumns)
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${name}, ${vaultId}, ${JSON.stringify(tags)},
                ${JSON.stringify(given)}, ${nowUs}, ${nowUs}, 1
              WHERE (SELECT count(*) FROM alert_rules WHERE owner_id = ${ownerId}) < ${fleetRulesMax}`,
      )
    return { rule, changes: [insert, this.#streamsChange(rule)] }
  }

  /** The changes that make a rule another one; they find nothing when it was changed meanwhile. */
  change(
    before: FleetRule,
    content: FleetRuleContent,
  ): { readonly rule: FleetRule; readonly changes: readonly Compilable[] } {
    const updatedAtUs = this.#clock.nowUs()
    const rule = { ...before, ...content, updatedAtUs, revision: before.revision + 1 }
    const update = this.#state
      .updateTable('alert_rules')
      .set({
        name: rule.name,
        vault_id: rule.vaultId ?? null,
        tags: JSON.stringify(rule.tags),
        rule: JSON.stringify(rule.rule),
        updated_at: updatedAtUs,
        revision: rule.revision,
      })
      .where('id', '=', before.id)
      .where('revision', '=', before.revision)
    return { rule, changes: [update, this.#streamsChange(before), this.#streamsChange(rule)] }
  }

  /** The changes that delete a rule; they find nothing when it was changed meanwhile. */
  remove(rule: FleetRule): readonly Compilable[] {
    const { id, revision } = rule
    const removal = this.#state
      .deleteFrom('alert_rules')
      .where('id', '=', id)
      .where('revision', '=', revision)
    return [removal, this.#streamsChange(rule)]
  }

  async find(ownerId: UserId, id: AlertRuleId): Promise<FleetRule | undefined> {
    const row = await this.#listed(ownerId).where('id', '=', id).executeTakeFirst()
    return row && fleetRuleOf(row)
  }

  /** In the order of their creation. */
  async list(
    ownerId: UserId,
    page: { readonly after: ListCursor | undefined; readonly limit: number },
  ): Promise<readonly FleetRule[]> {
    const { after, limit } = page
    let query = this.#listed(ownerId).limit(limit)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map(fleetRuleOf)
  }

  async streamsOf({ id, ...rule }: FleetRule): Promise<FleetRuleStreams> {
    const matching = this.#streamsThatMeet(rule)
    const counted = await this.#state
      .selectFrom('data_streams as stream')
      .leftJoin('alert_rule_changes as change', 'change.stream_id', 'stream.id')
      .leftJoin('alert_rule_omissions as omission', (join) =>
        join.onRef('omission.stream_id', '=', 'stream.id').on('omission.rule_id', '=', id),
      )
      .select((row) => [
        row.fn.countAll<number>().as('matching'),
        row.fn.count<number>('change.stream_id').as('pending'),
        row.fn.count<number>('omission.stream_id').as('leftOut'),
      ])
      .where('stream.id', 'in', matching)
      .executeTakeFirstOrThrow()
    const examples = await this.#state
      .selectFrom('alert_rule_omissions')
      .select(['stream_id as streamId', 'reason'])
      .where('rule_id', '=', id)
      .where('stream_id', 'in', matching)
      .orderBy('stream_id')
      .limit(namedMax)
      .execute()
    return { ...counted, examples }
  }

  /** Streams of all users that have not been looked at since something was changed. */
  async pending(): Promise<number> {
    const { pending } = await this.#state
      .selectFrom('alert_rule_changes')
      .select((row) => row.fn.countAll<number>().as('pending'))
      .executeTakeFirstOrThrow()
    return pending
  }

  #listed(ownerId: UserId) {
    return this.#state
      .selectFrom('alert_rules')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .orderBy('created_at')
      .orderBy('id')
  }

  #streamsThatMeet({ ownerId, vaultId, tags }: Omit<FleetRule, 'id'>) {
    const filter = { tags, ...(vaultId !== undefined && { vaultId }) }
    // What the service tells of itself raises no alerts.
    return idsThatMeet(this.#state, ownerId, filter).where('type', '<>', 'service')
  }

  /** Has all streams of a rule looked at. */
  #streamsChange(rule: FleetRule): Compilable {
    const streams = this.#streamsThatMeet(rule).select(sql<number>`1`.as('changes'))
    const insert = this.#state
      .insertInto('alert_rule_changes')
      .columns(['stream_id', 'changes'])
      .expression(streams)
      .onConflict((conflict) =>
        conflict.column('stream_id').doUpdateSet({ changes: sql`alert_rule_changes.changes + 1` }),
      )
    return optional(insert)
  }
}

/** The rules of fleets that a stream has by now, as the decider runs them. */
export async function fleetRulesInForce(
  state: StateDatabase,
  streamId: string,
): Promise<readonly AlertRule[]> {
  const row = await state
    .selectFrom('alert_memories')
    .select('fleet_rules')
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  return JSON.parse(row?.fleet_rules ?? '[]') as readonly AlertRule[]
}

export function fleetRuleOf(row: Selectable<StateSchema['alert_rules']>): FleetRule {
  return {
    id: row.id as AlertRuleId,
    ownerId: row.owner_id as UserId,
    name: row.name,
    vaultId: (row.vault_id as VaultId | null) ?? undefined,
    tags: JSON.parse(row.tags) as FleetRule['tags'],
    rule: JSON.parse(row.rule) as FleetRule['rule'],
    createdAtUs: row.created_at,
    updatedAtUs: row.updated_at,
    revision: row.revision,
  }
}
