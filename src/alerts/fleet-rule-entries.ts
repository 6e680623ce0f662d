import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { type Compilable, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import type { StreamId } from '../core/ids.ts'
import type { GroupCommit } from '../ingest/pipeline/group-commit.ts'
import type { StateDatabase, StateWriter } from '../storage/state/database.ts'
import { padded } from '../storage/state/portions.ts'
import type { Tags } from '../streams/data-streams/tags.ts'
import type { FleetRule } from './fleet-rule.ts'
import { fleetRuleOf } from './fleet-rule-store.ts'
import { RulesWanted, type WantedRules } from './wanted-rules.ts'

/** How often it is looked for streams to compare: a look into a table that is nearly always empty. */
const lookMs = 200

/** Streams that are compared together: others have their turns in between. */
const portion = 100

export interface FleetRuleEntriesNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly entries: Pick<GroupCommit, 'add' | 'assertReady'>
  readonly processing: {
    /** Waits, within bounds, until what is acknowledged by now is decided; whether it was. */
    caughtUp(): Promise<boolean>
  }
  readonly clock: Clock
  readonly onFailure: (error: unknown) => void
}

/** A stream that something was changed about, and which rules of fleets it has by now. */
interface PendingStream {
  readonly id: string
  readonly changes: number
  readonly version: number
  readonly wanted: WantedRules
  readonly hasWanted: boolean
}

/**
 * Brings rules of fleets to their streams. Whoever changes a rule or a stream notes the stream in the same
 * transaction; here the rules that it is to have are compared with those that the decider runs, and an entry of
 * the journal says so where they differ. The note is taken away once they are the same, so that nothing is
 * lost by a crash, and an entry that comes twice changes nothing.
 */
export class FleetRuleEntries {
  readonly #needs: FleetRuleEntriesNeeds
  readonly #wanted = new RulesWanted()
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** Entries were written that the decider may not have passed; at a start, by the run before. */
  #isAhead = true
  #hasNotedAll = false

  constructor(needs: FleetRuleEntriesNeeds) {
    this.#needs = needs
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look(signal)
      } catch (error) {
        // What the journal does not take now is written when it does.
        if (!(error instanceof DomainError)) this.#needs.onFailure(error)
      }
      await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Compares all streams that are noted; those that an entry was written for come again. */
  async #look(signal: AbortSignal): Promise<void> {
    // What has been written has to be seen before it is compared with: it would be written again.
    if (this.#isAhead && !(await this.#needs.processing.caughtUp())) return
    this.#isAhead = false
    if (!this.#hasNotedAll) await this.#noteAll()
    let after: string | undefined = ''
    while (after !== undefined && !signal.aborted) after = await this.#compare(after)
  }

  /**
   * At a start all streams are compared that have such rules, or could: after a restore the journal may
   * be ahead of the rules.
   */
  async #noteAll(): Promise<void> {
    const { state, writer } = this.#needs
    const streams = state
      .selectFrom('data_streams')
      .select(['id', sql<number>`1`.as('changes')])
      .where((where) =>
        where.or([
          where('owner_id', 'in', state.selectFrom('alert_rules').select('owner_id')),
          where(
            'id',
            'in',
            state
              .selectFrom('alert_memories')
              .select('stream_id')
              .where('fleet_rules', '<>', sql.lit('[]')),
          ),
        ]),
      )
    await writer.commit(
      state
        .insertInto('alert_rule_changes')
        .columns(['stream_id', 'changes'])
        .expression(streams)
        .onConflict((conflict) =>
          conflict
            .column('stream_id')
            .doUpdateSet({ changes: sql`alert_rule_changes.changes + 1` }),
        ),
    )
    this.#hasNotedAll = true
  }

  /** @returns the last one of the portion, if there may be more */
  async #compare(after: string): Promise<string | undefined> {
    const { state, writer } = this.#needs
    const noted = await state
      .selectFrom('alert_rule_changes')
      .select(['stream_id as id', 'changes'])
      .where('stream_id', '>', after)
      .orderBy('stream_id')
      .limit(portion)
      .execute()
    if (noted.length === 0) return undefined
    const pending = await this.#pending(noted)
    await this.#write(pending.filter(({ hasWanted }) => !hasWanted))
    const known = new Set(pending.map(({ id }) => id))
    const done = [
      ...pending.filter(({ hasWanted }) => hasWanted),
      // Deleted meanwhile.
      ...noted.filter(({ id }) => !known.has(id)),
    ]
    const omissions = await this.#omissionChanges(pending)
    const changes = [...omissions, ...done.map((stream) => this.#noteDone(stream))]
    if (changes.length > 0) await writer.commit(...changes)
    return noted.length < portion ? undefined : noted.at(-1)?.id
  }

  async #pending(
    noted: readonly { readonly id: string; readonly changes: number }[],
  ): Promise<readonly PendingStream[]> {
    const changesOf = new Map(noted.map(({ id, changes }) => [id, changes]))
    const rows = await this.#needs.state
      .selectFrom('data_streams as stream')
      .innerJoin('data_stream_versions as version', (join) =>
        join
          .onRef('version.stream_id', '=', 'stream.id')
          .onRef('version.version', '=', 'stream.version'),
      )
      .leftJoin('alert_memories as memory', 'memory.stream_id', 'stream.id')
      .select(['stream.id', 'stream.owner_id', 'stream.vault_id', 'stream.type', 'stream.tags'])
      .select(['stream.version', 'version.definition', 'memory.fleet_rules'])
      .where('stream.id', 'in', padded([...changesOf.keys()]))
      .execute()
    const rulesOf = await this.#rulesOf(new Set(rows.map((row) => row.owner_id)))
    const pending: PendingStream[] = []
    for (const row of rows) {
      const { id, version, vault_id: vaultId, type, definition } = row
      const stream = { vaultId, type, definition, tags: JSON.parse(row.tags) as Tags }
      const wanted = this.#wanted.of(stream, rulesOf.get(row.owner_id) ?? [])
      const hasWanted = JSON.stringify(wanted.rules) === (row.fleet_rules ?? '[]')
      pending.push({ id, version, changes: changesOf.get(id) ?? 0, wanted, hasWanted })
      // Compiling what has not been seen yet takes long.
      await turn()
    }
    return pending
  }

  async #rulesOf(
    ownerIds: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, readonly FleetRule[]>> {
    if (ownerIds.size === 0) return new Map()
    const rows = await this.#needs.state
      .selectFrom('alert_rules')
      .selectAll()
      .where('owner_id', 'in', padded([...ownerIds]))
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return Map.groupBy(rows.map(fleetRuleOf), ({ ownerId }) => ownerId)
  }

  async #write(streams: readonly PendingStream[]): Promise<void> {
    if (streams.length === 0) return
    const { state, entries, clock } = this.#needs
    entries.assertReady()
    const rulesOf = new Map(streams.map(({ id, wanted }) => [id, wanted.rules]))
    const present = await state
      .selectFrom('data_streams')
      .select(['id', 'version'])
      .where('id', 'in', padded([...rulesOf.keys()]))
      .execute()
    // In the turn in which they were found: nothing may come into a stream that was deleted.
    const atUs = clock.nowUs()
    this.#isAhead = true
    const { promise, resolve } = Promise.withResolvers<void>()
    entries.add(
      (writer) => {
        for (const { id, version } of present) {
          const stream = { streamId: id as StreamId, version }
          writer.fleetRules(stream, rulesOf.get(id) ?? [], atUs)
        }
      },
      // Whether it is durable or not: what has not come to the decider is compared again.
      () => resolve(),
    )
    // Before that the decider would seem to have passed everything.
    await promise
  }

  /** What keeps, for those who ask, which rules a stream cannot have. */
  async #omissionChanges(streams: readonly PendingStream[]): Promise<readonly Compilable[]> {
    if (streams.length === 0) return []
    const { state } = this.#needs
    const rows = await state
      .selectFrom('alert_rule_omissions')
      .select(['stream_id as id', 'rule_id as ruleId', 'reason'])
      .where('stream_id', 'in', padded(streams.map(({ id }) => id)))
      .execute()
    const before = Map.groupBy(rows, ({ id }) => id)
    return streams.flatMap(({ id, wanted: { omissions } }) => {
      const known = (before.get(id) ?? []).map(({ ruleId, reason }) => `${ruleId} ${reason}`)
      const now = omissions.map(({ ruleId, reason }) => `${ruleId} ${reason}`)
      if (known.toSorted().join('\n') === now.toSorted().join('\n')) return []
      const values = omissions.map(({ ruleId, reason }) => ({
        rule_id: ruleId,
        stream_id: id,
        reason,
      }))
      return [
        state.deleteFrom('alert_rule_omissions').where('stream_id', '=', id),
        ...values.map((row) => state.insertInto('alert_rule_omissions').values(row)),
      ]
    })
  }

  /** Unless something was changed since it was looked at. */
  #noteDone({ id, changes }: Pick<PendingStream, 'id' | 'changes'>): Compilable {
    return this.#needs.state
      .deleteFrom('alert_rule_changes')
      .where('stream_id', '=', id)
      .where('changes', '=', changes)
  }
}
