import { join } from 'node:path'
import { expect } from 'vitest'
import { type Answer, ApiClient, type StreamCounters } from '../../support/api-client.ts'
import { kindsIn } from '../../support/journal-kinds.ts'
import {
  type LaunchedProcess,
  launchServiceProcess,
  newDataDir,
  type ServiceProcess,
} from '../../support/service-process.ts'
import { type Pick, type Step, secondsMax } from './history-steps.ts'
import {
  atSecond,
  bodyOf,
  definitionOf,
  observed,
  PossibleHistories,
  rulesFirst,
  type SentReading,
} from './stream-history.ts'

/** One folder for all histories; the service on it is killed and started again. */
export class World {
  readonly #dataDir = newDataDir()
  #launched: LaunchedProcess | undefined
  #process: ServiceProcess | undefined
  api = new ApiClient('')
  kills = 0

  async up(): Promise<void> {
    if (this.#process) return
    this.#launched = await launchServiceProcess(this.#dataDir)
    this.#process = await this.#launched.listening()
    this.api = new ApiClient(this.#process.http)
    await this.api.token()
  }

  async kill(): Promise<void> {
    this.kills++
    await this.#process?.end('SIGKILL')
    this.#process = undefined
  }

  async end(): Promise<void> {
    this.#launched?.signal('SIGKILL')
    await this.#launched?.exited
  }

  /** The kinds of all entries of the journal, as far as it is not trimmed. */
  kinds(): ReadonlySet<number> {
    return kindsIn(join(this.#dataDir, 'journal.db'))
  }
}

/** A stream under test, with what should have become of it. */
export class Life {
  readonly #world: World
  readonly #vaultId: string
  #histories = new PossibleHistories()
  #rules = rulesFirst
  #isPaused = false
  /** The newest second of what was sent. */
  #second = 0
  readonly #sent: SentReading[] = []
  streamId = ''

  constructor(world: World, vaultId: string) {
    this.#world = world
    this.#vaultId = vaultId
  }

  async create(): Promise<void> {
    const { schema, processing } = definitionOf(this.#rules)
    const { status, body } = await this.#world.api.withToken<{ streamId: string }>(
      'POST',
      '/streams',
      {
        name: 'one of many lives',
        vaultId: this.#vaultId,
        type: 'iot_sensor',
        schema: withoutNulls(schema),
        processing: withoutNulls(processing),
      },
    )
    expect(status).toBe(201)
    this.streamId = body.streamId
  }

  async live(taken: Step): Promise<void> {
    const path = `/streams/${this.streamId}`
    switch (taken.kind) {
      case 'push':
        return this.#push(this.#readingsOf(taken.picks), taken)
      case 'put': {
        await this.#do(taken, 200, () => this.#send('PUT', path, definitionOf(taken.rules)))
        this.#rules = taken.rules
        return
      }
      case 'redrive': {
        const expected = this.#isPaused ? 409 : 200
        const redrive = () => this.#send('POST', `${path}/quarantine/redrive`)
        await this.#do(taken, expected, redrive)
        if (!this.#isPaused) this.#histories.change((history) => history.redrive(this.#rules))
        return
      }
      case 'clearQuarantine': {
        await this.#do(taken, 204, () => this.#send('DELETE', `${path}/quarantine`))
        this.#histories.change((history) => history.clearQuarantine())
        return
      }
      case 'clearRange': {
        const [from, to] = [Math.min(taken.from, taken.to), Math.max(taken.from, taken.to)]
        const range = `?start=${atSecond(from)}&end=${atSecond(to)}`
        await this.#do(taken, 204, () => this.#send('DELETE', `${path}/data${range}`))
        this.#histories.change((history) => history.clearRange(from, to))
        return
      }
      case 'pause':
      case 'resume': {
        await this.#do(taken, 200, () => this.#send('POST', `${path}/${taken.kind}`))
        this.#isPaused = taken.kind === 'pause'
        return
      }
      case 'replace':
        return this.#replace(taken)
      case 'act':
        return this.#act(taken)
      case 'fleetRule':
        return this.#changeFleetRule(taken)
    }
  }

  /** Returns what was counted, which adds up, and is that of a history that can have been. */
  async check(): Promise<StreamCounters> {
    const received = this.#histories.receivedLeast()
    const { counters, seen } = await observed(this.#world.api, this.streamId, received)
    expect(this.#histories.narrowTo(seen)).toContainEqual(seen)
    const { received: all, ...terms } = counters
    expect(Object.values(terms).reduce((sum, term) => sum + term, 0)).toBe(all)
    expect(counters).toMatchObject({ pending: 0, quarantined: seen.held.length })
    return counters
  }

  async #push(readings: readonly SentReading[], taken: Step): Promise<void> {
    const path = `/streams/${this.streamId}/data`
    const push = () => this.#send('POST', path, bodyOf(readings))
    if (this.#isPaused) {
      await this.#do(taken, 409, push)
      return
    }
    // Where all are refused the answer is 422; what is refused is the history's business.
    const attempts = await this.#do(taken, [202, 422], push)
    this.#histories.push(readings, this.#rules, attempts)
  }

  /** Somebody does something to an alert, if there is one. */
  async #act(taken: Step): Promise<void> {
    const path = `/streams/${this.streamId}/alerts?state=firing`
    const { body } = await this.#world.api.withToken<readonly { alertId: string }[]>('GET', path)
    const [alert] = body
    if (!alert) return
    // It may be over meanwhile, or have been acknowledged before a kill.
    const act = () => this.#send('POST', `/alerts/${alert.alertId}/acknowledge`)
    await this.#do(taken, [200, 404, 409], act)
  }

  /** A rule of all streams of the vault comes, or goes. */
  async #changeFleetRule(taken: Step): Promise<void> {
    const { api } = this.#world
    const { body } = await api.withToken<readonly { alertRuleId: string }[]>('GET', '/alert-rules')
    const [present] = body
    if (present) {
      const remove = () => this.#send('DELETE', `/alert-rules/${present.alertRuleId}`)
      await this.#do(taken, [204, 404], remove)
      return
    }
    const rule = { field: 'value', operator: '<', threshold: 10 }
    const made = { name: 'low', vaultId: this.#vaultId, rule }
    await this.#do(taken, 201, () => this.#send('POST', '/alert-rules', made))
  }

  /** Deletes the stream for good, and goes on with a new one of the same name. */
  async #replace(taken: Step): Promise<void> {
    const path = `/streams/${this.streamId}`
    await this.#do(taken, [204, 404], () => this.#send('DELETE', path))
    expect((await this.#send('GET', path)).status).toBe(404)
    expect((await this.#send('POST', `${path}/data`, { value: 1 })).status).toBe(404)
    const deletion = async () =>
      (await this.#world.api.withToken<{ removedAt: string }>('GET', `${path}/deletion`)).body
    const done = { removedAt: expect.any(String) as string }
    await expect.poll(deletion).toMatchObject(done)
    this.#histories = new PossibleHistories()
    this.#rules = rulesFirst
    this.#isPaused = false
    this.#second = 0
    await this.create()
  }

  /** New readings, and now and then one that was sent before. */
  #readingsOf(picks: readonly Pick[]): readonly SentReading[] {
    const readings = picks.map(({ value, hasPlace, ahead, again }) => {
      const before = again === undefined ? undefined : this.#sent[again]
      if (before !== undefined) return before
      const second = Math.min(Math.max(0, this.#second + ahead), secondsMax)
      this.#second = Math.max(this.#second, second)
      const reading = { n: this.#sent.length, second, value, hasPlace }
      this.#sent.push(reading)
      return reading
    })
    return [...new Set(readings)]
  }

  #send(method: string, path: string, body?: object): Promise<Answer<unknown>> {
    return this.#world.api.withToken(method, path, body)
  }

  /**
   * Does something, and again after a kill until it is answered; returns how often it was sent. What
   * was cut off may have happened or not: done again, it comes to the same.
   */
  async #do(
    { killAfterTurns: turns }: Step,
    expected: number | readonly number[],
    act: () => Promise<Answer<unknown>>,
  ): Promise<number> {
    let attempts = 1
    if (turns !== undefined) {
      const cut = act().catch(() => undefined)
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      await this.#world.kill()
      await cut
      await this.#world.up()
      attempts++
    }
    const { status, body } = await act()
    expect([expected].flat(), JSON.stringify(body)).toContain(status)
    return attempts
  }
}

function withoutNulls(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== null))
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
