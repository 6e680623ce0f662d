import { type InboxEntryId, newId, type UserId } from '../../src/core/ids.ts'
import type { EventType } from '../../src/outbox/events/event-types.ts'
import { Events, type RecordedEvent } from '../../src/outbox/events/events.ts'
import { FanOut, type FanOutStep } from '../../src/telling/notifications/fan-out.ts'
import { Inboxes } from '../../src/telling/notifications/inbox/inbox-step.ts'
import { InboxStore } from '../../src/telling/notifications/inbox/inbox-store.ts'
import { PreferenceStore } from '../../src/telling/notifications/preferences/preference-store.ts'
import type { Channel } from '../../src/telling/notifications/preferences/preferences.ts'
import { HandClock } from './hand-clock.ts'
import { TestState } from './test-state.ts'

/** What a step beside the inbox was given. */
export interface ToldEvent extends RecordedEvent {
  readonly channels: ReadonlySet<Channel>
}

interface Happening {
  readonly isQuiet?: boolean
  readonly type?: EventType
  readonly resourceId?: string
  readonly ownerId?: UserId
  readonly severity?: string | undefined
  /** What else the event says. */
  readonly data?: object
}

export const minuteUs = 60_000_000
export const dayUs = 24 * 60 * minuteUs

/** One user's events, as they are told, and a clock that stands where it is put. */
export class NotifiedUsers implements AsyncDisposable {
  readonly tests: TestState
  readonly fanOut: FanOut
  readonly inboxes: Inboxes
  readonly told: ToldEvent[] = []
  /** Whose events were told, after each transaction. */
  readonly heard: (readonly UserId[])[] = []
  readonly events: Events
  readonly inbox: InboxStore
  readonly preferences: PreferenceStore
  readonly ada = newId<UserId>()
  readonly clock: HandClock

  /** A step of the test's own comes before what is remembered in `told`. */
  static async open(step: FanOutStep = async () => 0): Promise<NotifiedUsers> {
    const collected: ToldEvent[] = []
    const heard: (readonly UserId[])[] = []
    const collect: FanOutStep = async (transaction, event, channels, afterwards) => {
      const rows = await step(transaction, event, channels, afterwards)
      collected.push({ ...event, channels })
      return rows
    }
    const onNotified = (owners: ReadonlySet<UserId>) => heard.push([...owners])
    const clock = new HandClock()
    const inboxes = new Inboxes(clock)
    const fanOut = new FanOut({ clock, steps: [inboxes.step, collect], onNotified })
    const tests = await TestState.open(fanOut.notify)
    return new NotifiedUsers(tests, { clock, fanOut, inboxes, told: collected, heard })
  }

  get nowUs(): number {
    return this.clock.atUs
  }

  /** Time passes until then. */
  set nowUs(nowUs: number) {
    this.clock.atUs = nowUs
  }

  private constructor(
    tests: TestState,
    {
      clock,
      fanOut,
      inboxes,
      told,
      heard,
    }: Pick<NotifiedUsers, 'clock' | 'fanOut' | 'inboxes' | 'told' | 'heard'>,
  ) {
    this.clock = clock
    this.tests = tests
    this.fanOut = fanOut
    this.inboxes = inboxes
    this.told = told
    this.heard = heard
    this.events = new Events(tests.state, clock)
    this.inbox = new InboxStore({ state: tests.state, writer: tests, clock })
    this.preferences = new PreferenceStore(tests.state, tests)
  }

  /** The changes that record an event of a vault called boiler. */
  recorded(happening: Happening = {}) {
    const { type = 'vault.created', resourceId = 'v1', ownerId = this.ada, severity } = happening
    const { isQuiet = false } = happening
    const data = { id: resourceId, name: 'boiler', ...happening.data }
    const about = { vaultId: resourceId, templateId: 't', resourceType: 'vault', data }
    return this.events.record({
      type,
      ownerId,
      resourceId,
      ...about,
      isQuiet,
      ...(severity && { severity }),
    })
  }

  /** Commits an event; resolves with whether it was told. */
  async happen(happening: Happening = {}): Promise<boolean> {
    const before = this.told.length
    await this.tests.commit(...this.recorded(happening))
    return this.told.length > before
  }

  /** The ids of the newest entries of a user, newest first. */
  async entryIds(ownerId = this.ada): Promise<readonly InboxEntryId[]> {
    const page = { unreadOnly: false, offset: 0, limit: 1_000 }
    const { entries } = await this.inbox.list(ownerId, page)
    return entries.map(({ id }) => id as InboxEntryId)
  }

  /** What became of each event: 1 told, 2 suppressed. */
  async outcomes(): Promise<readonly number[]> {
    const rows = await this.tests.state.selectFrom('events').select('fanned_out').execute()
    return rows.map((row) => row.fanned_out)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}
