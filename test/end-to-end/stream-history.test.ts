import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  verdictAccepted,
  verdictAlertAction,
  verdictAlertTimer,
  verdictDowntime,
  verdictFleetRules,
  verdictQuarantined,
  verdictRedriven,
} from '../../src/pipeline/entry.ts'
import { type Answer, ApiClient } from '../support/api-client.ts'
import { verdictsIn } from '../support/journal-verdicts.ts'
import {
  type LaunchedProcess,
  launchServiceProcess,
  newDataDir,
  type ServiceProcess,
} from '../support/service-process.ts'
import { type Step, secondsMax, step } from './history-steps.ts'
import {
  atSecond,
  bodyOf,
  definitionOf,
  observed,
  type SentReading,
  StreamHistory,
} from './stream-history.ts'

/** One folder for all histories; the service on it is killed and started again. */
class World {
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

  /** The verdicts of all entries of the journal, as far as it is not trimmed. */
  verdicts(): ReadonlySet<number> {
    return verdictsIn(join(this.#dataDir, 'journal.db'))
  }
}

/** A stream under test, with what should have become of it. */
class Life {
  readonly #world: World
  readonly #vaultId: string
  #history = new StreamHistory()
  #isPaused = false
  #made = 0
  readonly #sent: SentReading[] = []
  streamId = ''

  constructor(world: World, vaultId: string) {
    this.#world = world
    this.#vaultId = vaultId
  }

  async create(): Promise<void> {
    const { schema, processing } = definitionOf(this.#history.rules) as {
      readonly schema: object
      readonly processing: object
    }
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
        this.#history.rules = taken.rules
        return
      }
      case 'redrive': {
        const expected = this.#isPaused ? 409 : 200
        const redrive = () => this.#send('POST', `${path}/quarantine/redrive`)
        await this.#do(taken, expected, redrive)
        if (!this.#isPaused) this.#history.redrive()
        return
      }
      case 'clearQuarantine': {
        await this.#do(taken, 204, () => this.#send('DELETE', `${path}/quarantine`))
        this.#history.clearQuarantine()
        return
      }
      case 'clearRange': {
        const [from, to] = [Math.min(taken.from, taken.to), Math.max(taken.from, taken.to)]
        const range = `?start=${atSecond(from)}&end=${atSecond(to)}`
        await this.#do(taken, 204, () => this.#send('DELETE', `${path}/data${range}`))
        this.#history.clearRange(from, to)
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

  async check(): Promise<void> {
    const history = this.#history
    const { counters, sum, stored, values, held } = await observed(
      this.#world.api,
      this.streamId,
      history.received.least,
    )
    expect(sum).toBe(0)
    expect(counters.pending).toBe(0)
    expect(counters.received).toBeGreaterThanOrEqual(history.received.least)
    expect(counters.received).toBeLessThanOrEqual(history.received.most)
    expect(stored).toEqual([...history.stored.keys()].toSorted((one, other) => one - other))
    for (const [n, { value }] of history.stored) expect(values.get(n)).toBe(value)
    expect(new Set(held.keys())).toEqual(new Set(history.held.keys()))
    for (const [n, times] of held) {
      expect(times).toBeLessThanOrEqual(history.held.get(n)?.times ?? 0)
    }
    expect(counters.quarantined).toBe([...held.values()].reduce((left, right) => left + right, 0))
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
    this.#history.push(readings, attempts)
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
    expect((await this.#send('POST', `${path}/data`, { n: 1 })).status).toBe(404)
    const deletion = async () =>
      (await this.#world.api.withToken<{ removedAt: string }>('GET', `${path}/deletion`)).body
    const done = { removedAt: expect.any(String) as string }
    await expect.poll(deletion).toMatchObject(done)
    this.#history = new StreamHistory()
    this.#isPaused = false
    await this.create()
  }

  /** New readings, and now and then one that was sent before. */
  #readingsOf(picks: readonly number[]): readonly SentReading[] {
    const readings = picks.map((pick) => {
      const again = pick % 4 === 0 ? this.#sent[pick % (this.#sent.length + 1)] : undefined
      if (again !== undefined) return again
      const reading = {
        n: this.#made++,
        second: pick % secondsMax,
        value: Math.floor(pick / 7) % 101,
        hasPlace: Math.floor(pick / 3) % 5 === 0,
      }
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

const world = new World()

afterAll(() => world.end())

test('any sequence of readings, versions, redrives, removals, pauses, deletions and kills adds up', async () => {
  await world.up()
  const vaultId = await world.api.createVault()

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), async (steps) => {
      const life = new Life(world, vaultId)
      await life.create()
      for (const [index, taken] of steps.entries()) {
        await life.live(taken)
        if (index % 4 === 3) await life.check()
      }
      await life.check()
    }),
    { numRuns: 8, seed: 20_261_121, endOnFailure: true },
  )

  expect(world.kills).toBeGreaterThan(10)
  // What alerts have put into the journal is no reading, and was counted as none.
  const ofReadings = [verdictAccepted, verdictQuarantined, verdictRedriven]
  const ofPeople = [verdictAlertAction, verdictFleetRules]
  const all = [...ofReadings, ...ofPeople, verdictAlertTimer, verdictDowntime]
  expect([...world.verdicts()]).toEqual(expect.arrayContaining(all))
})
