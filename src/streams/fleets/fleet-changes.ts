import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Compilable, sql } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import type { FleetId, StreamId } from '../../core/ids.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import type { DataStream, DataStreamStore, FleetPlace } from '../data-streams/data-stream-store.ts'
import type { StreamDefinition } from '../data-streams/definition.ts'
import { isSameDefinition } from '../data-streams/definition-change.ts'
import { ownTopicOf } from '../data-streams/source-kinds.ts'
import { noticeOf } from '../data-streams/stream-body.ts'
import { type StreamChanges, versionsMax } from '../data-streams/stream-changes.ts'
import { definitionOfDevice } from './device-stream.ts'
import type { EndedFleet, Fleet, FleetEnding } from './fleet.ts'
import { fleetOf } from './fleet-store.ts'

/** Streams that one transaction changes: others who change the state wait for it. */
const portionMax = 100

/** Streams that are planned in one turn of the event loop: readings wait for it. */
const perTurn = 10

/** Fleets that are looked at together. */
const fleetsPerRound = 100

/** After a failure the next round begins this much later. */
const retryMs = 1_000

/** Whose fleets are ended by the deletion of the user is met this much later at most. */
const lookMs = 60_000

export interface FleetChangesNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly streams: DataStreamStore
  readonly changes: StreamChanges
  readonly lifecycle: Pick<LifecycleEvents, 'record' | 'forget'>
  readonly publicUrl: string
  /** Lets readings meet the stream as it is now. */
  readonly forget: (id: StreamId) => void
  /** Lets messages of the device find that it has no stream in the fleet any more. */
  readonly forgetDevice: (place: FleetPlace) => void
  /** Has what is left of a deleted stream removed, and ends what goes on about it. */
  readonly onDeleted: (id: StreamId) => void
  /** To be called once some streams have another definition. */
  readonly onChanged: () => void
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/** What a portion does to one stream. */
interface Step {
  readonly changes: readonly Compilable[]
  /** To be done once they are committed. */
  readonly after: () => void
}

/** A device with its stream, as the portion has found it. */
interface Member {
  readonly name: string
  readonly streamId: StreamId
}

/**
 * Brings the streams of fleets to the version that their fleet has, and ends the streams, or the devices, of fleets that
 * are deleted: portion by portion, as long as there is something to do. The rows say what is left, so a restart goes on
 * from there. A stream that another user changes or deletes meanwhile is looked at again.
 */
export class FleetChanges {
  readonly #needs: FleetChangesNeeds
  /** Fleets whose last portion met a change of another user: the next one is smaller. */
  readonly #sizes = new Map<FleetId, number>()
  #running: Promise<void> | undefined
  #isWanted = false
  #isStopped = false
  #timer: NodeJS.Timeout | undefined
  readonly stats = { changed: 0, failed: 0 }

  constructor(needs: FleetChangesNeeds) {
    this.#needs = needs
  }

  /** To be called at the start, and when a fleet was changed or deleted. */
  wake(): void {
    if (this.#isStopped) return
    this.#isWanted = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWanted) this.wake()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isWanted = false
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    this.#isWanted = false
    clearTimeout(this.#timer)
    let afterMs = lookMs
    try {
      while (!this.#isStopped && (await this.#round()));
    } catch (error) {
      // One that passes by itself is that of a service with much to do.
      if (!(error instanceof DomainError && error.retryable)) this.#needs.onFailure(error)
      afterMs = retryMs
    }
    if (this.#isStopped) return
    this.#timer = setTimeout(() => this.wake(), afterMs).unref()
  }

  /** A portion of each fleet that has something to do. Resolves with whether there may be more. */
  async #round(): Promise<boolean> {
    const rows = await this.#needs.state
      .selectFrom('fleets')
      .selectAll()
      .where(sql<boolean>`(ended_at IS NOT NULL OR settled_version < version)`)
      .orderBy('id')
      .limit(fleetsPerRound)
      .execute()
    for (const row of rows) {
      await nextTurn()
      if (this.#isStopped) return false
      const fleet = fleetOf(row)
      if (row.ending === null) await this.#changePortion(fleet)
      else {
        const ending = row.ending as FleetEnding
        await this.#endPortion({ fleet, ending, endedBy: row.ended_by ?? '' })
      }
    }
    return rows.length > 0
  }

  /** Brings some streams to the version of their fleet. */
  async #changePortion(fleet: Fleet): Promise<void> {
    const { state } = this.#needs
    const { id, version } = fleet
    const members = await this.#members(fleet)
    const present = state
      .updateTable('fleets')
      .set({ settled_version: members.length === 0 ? version : sql`settled_version` })
      .where('id', '=', id)
      .where('version', '=', version)
      .where('ended_at', 'is', null)
    if (members.length === 0) await this.#needs.writer.attempt(present)
    else
      await this.#commit(
        id,
        [present],
        await this.#planned(members, (one) => this.#next(fleet, one)),
      )
  }

  #next(fleet: Fleet, stream: DataStream): Step {
    const { state, changes, lifecycle, forget } = this.#needs
    const { id, version, changedBy } = fleet
    const { name, tags } = stream
    const device = stream.fleet?.device ?? ''
    const changed = definitionOfDevice(fleet, device, { name, tags })
    const isSame = isSameDefinition(stream, changed)
    const isFull = !isSame && stream.version >= versionsMax
    const moved = state
      .updateTable('fleet_devices')
      .set(isFull ? { failed_version: version } : { version })
      .where('fleet_id', '=', id)
      .where('name', '=', device)
      .where('stream_id', '=', stream.id)
    if (isFull) return { changes: [moved], after: () => void this.stats.failed++ }
    if (isSame) return { changes: [moved], after: nothing }
    const after = () => {
      this.stats.changed++
      forget(stream.id)
    }
    return {
      changes: [
        moved,
        ...changes.changing(stream, changed, changedBy),
        ...lifecycle.record(updated(stream, changed, changedBy)),
      ],
      after,
    }
  }

  /** Ends some streams, or devices, of a fleet that is deleted; and last the fleet. */
  async #endPortion(ended: EndedFleet): Promise<void> {
    const { state, writer } = this.#needs
    const { id } = ended.fleet
    const members = ended.ending === 'forget' ? [] : await this.#members(ended.fleet, true)
    if (members.length > 0) {
      const steps = await this.#planned(members, (stream) =>
        ended.ending === 'delete' ? this.#deleted(ended, stream) : this.#released(ended, stream),
      )
      await this.#commit(id, [], steps)
      return
    }
    const names = state
      .selectFrom('fleet_devices')
      .select('name')
      .where('fleet_id', '=', id)
      .limit(portionMax * 10)
    // Names that were denied, and those of a user who is deleted.
    const rest = state
      .deleteFrom('fleet_devices')
      .where('fleet_id', '=', id)
      .where('name', 'in', names)
    if (await writer.attempt(rest)) return
    this.#sizes.delete(id)
    await writer.commit(
      state.deleteFrom('totals').where('list', '=', 'streams_of_fleet').where('owner_id', '=', id),
      state.deleteFrom('fleets').where('id', '=', id),
    )
  }

  #deleted({ endedBy }: EndedFleet, stream: DataStream): Step {
    const { changes, lifecycle, onDeleted, publicUrl } = this.#needs
    const { ownerId, id, name } = stream
    const event = {
      event: 'stream.deleted',
      ownerId,
      resourceId: id,
      name,
      actor: { userId: ownerId, apiKeyId: endedBy },
      notice: noticeOf(stream, 'deleted', publicUrl),
    } as const
    return {
      changes: [...changes.removing(stream), ...lifecycle.record(event), lifecycle.forget(id)],
      after: () => {
        this.#left(stream)
        onDeleted(id)
      },
    }
  }

  /** Makes a stream an ordinary one. No topic leads to it any more, so its definition names none. */
  #released({ fleet, endedBy }: EndedFleet, stream: DataStream): Step {
    const { state, changes, lifecycle } = this.#needs
    const { id, source, version } = stream
    const released = state
      .deleteFrom('fleet_devices')
      .where('fleet_id', '=', fleet.id)
      .where('name', '=', stream.fleet?.device ?? '')
      .where('stream_id', '=', id)
    const after = () => this.#left(stream)
    if (ownTopicOf(source) === undefined || version >= versionsMax)
      return { changes: [released], after }
    const { topic: _, ...others } = source
    const changed = { ...stream, source: others }
    return {
      changes: [
        ...changes.changing(stream, changed, endedBy),
        ...lifecycle.record(updated(stream, changed, endedBy)),
        released,
      ],
      after,
    }
  }

  #left({ id, fleet }: DataStream): void {
    this.#needs.forget(id)
    if (fleet !== undefined) this.#needs.forgetDevice(fleet)
  }

  /** Some devices with streams: those of an earlier version, or any. */
  async #members({ id, version }: Fleet, any = false): Promise<readonly Member[]> {
    const found = this.#needs.state
      .selectFrom('fleet_devices')
      .select(['name', 'stream_id'])
      .where('fleet_id', '=', id)
      .where('stream_id', 'is not', null)
      .limit(this.#sizes.get(id) ?? portionMax)
    const wanted = any
      ? found
      : found
          .where('version', '<', version)
          .where(sql<boolean>`(failed_version IS NULL OR failed_version < ${version})`)
    const rows = await wanted.execute()
    return rows.map(({ name, stream_id: streamId }) => ({ name, streamId: streamId as StreamId }))
  }

  async #planned(
    members: readonly Member[],
    plan: (stream: DataStream) => Step,
  ): Promise<readonly Step[]> {
    const { streams } = this.#needs
    const steps: Step[] = []
    for (const [index, { streamId, name }] of members.entries()) {
      if (index % perTurn === perTurn - 1) await nextTurn()
      const stream = await streams.load(streamId)
      // Under another name since it was looked for: it is found again.
      if (stream?.fleet?.device === name) steps.push(plan(stream))
      if (stream === undefined) steps.push(this.#gone(streamId))
    }
    return steps
  }

  /** A stream that does not exist has no device. */
  #gone(id: StreamId): Step {
    const rest = this.#needs.state.deleteFrom('fleet_devices').where('stream_id', '=', id)
    return { changes: [optional(rest)], after: nothing }
  }

  async #commit(id: FleetId, first: readonly Compilable[], steps: readonly Step[]): Promise<void> {
    if (steps.length === 0) return
    const size = this.#sizes.get(id) ?? portionMax
    const changes = steps.flatMap((step) => step.changes)
    if (await this.#needs.writer.attempt(...first, ...changes)) {
      this.#sizes.set(id, Math.min(portionMax, size * 2))
      for (const { after } of steps) after()
      this.#needs.onChanged()
    } else this.#sizes.set(id, Math.max(1, Math.floor(size / 4)))
  }
}

function updated(stream: DataStream, { name }: StreamDefinition, apiKeyId: string) {
  const { ownerId, id } = stream
  return {
    event: 'stream.updated',
    ownerId,
    resourceId: id,
    name,
    actor: { userId: ownerId, apiKeyId },
  } as const
}

function nothing(): void {
  // The stream is as it was.
}
