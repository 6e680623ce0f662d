import { expect } from 'vitest'
import type { ApiClient } from './api-client.ts'

/** What each test front sends: one reading that its stream takes at once, and one that it takes once it is mended. */
export const toldPayloads = ['{"level":1}', '{"level":50}'] as const

interface Definition {
  readonly type?: string
  readonly source?: object
}

/** A stream whose fields are read beside its messages. */
export class ToldStream {
  readonly id: string
  readonly #api: ApiClient
  readonly #fields: object

  private constructor(api: ApiClient, id: string, fields: object) {
    this.#api = api
    this.id = id
    this.#fields = fields
  }

  /**
   * @param fields beside `level`, by their names
   * @param path of `level`
   */
  static async make(
    api: ApiClient,
    fields: object,
    { path = 'level', ...rest }: Definition & { readonly path?: string } = {},
  ): Promise<ToldStream> {
    const level = { type: 'number', from: path }
    const narrow = { ...fields, level: { ...level, range: [0, 10] } }
    const processing = { validation: 'strict' }
    const id = await api.createStream(narrow, { ...rest, processing })
    return new ToldStream(api, id, { ...fields, level })
  }

  /** Resolves when its source is running. */
  async reached(): Promise<void> {
    await expect
      .poll(async () => (await this.#api.status(this.id))['source'])
      .toMatchObject({ state: 'running' })
  }

  /** Waits for both readings, the second one by way of the quarantine. */
  async has(told: object): Promise<void> {
    expect(await this.#api.settled(this.id, 2)).toMatchObject({ stored: 1, quarantined: 1 })
    expect(await this.#api.readAll(this.id)).toMatchObject([{ level: 1, ...told }])
    const path = `/streams/${this.id}`
    const changed = await this.#api.withToken('PUT', path, { schema: this.#fields })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    await this.#api.withToken('POST', `${path}/quarantine/redrive`, {})
    await expect
      .poll(async () => (await this.#api.status(this.id)).counters)
      .toMatchObject({ stored: 2, quarantined: 0 })
    const readings = await this.#api.readAll(this.id)
    expect(
      readings.toSorted((one, other) => Number(one['level']) - Number(other['level'])),
    ).toMatchObject([
      { level: 1, ...told },
      { level: 50, ...told },
    ])
  }
}
