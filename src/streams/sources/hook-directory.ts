import type { StreamId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { DataStream } from '../data-streams/data-stream-store.ts'
import { isInbound } from '../data-streams/source-kinds.ts'
import { type SourceSecrets, withSecrets } from '../data-streams/source-secrets.ts'
import type { HookIds } from './hook-ids.ts'
import { previousSecretOf } from './secret-rotation.ts'
import type { SourceStore } from './source-store.ts'

type Json = Readonly<Record<string, unknown>>

/** Webhooks that are kept ready; another one costs one read of the state. */
const hooksMax = 10_000

/** A stream that others send to, with the secrets that their messages are signed with. */
export interface HookDefinition {
  readonly streamId: StreamId
  readonly source: Json
  /** Secret before this one, good until then, too. */
  readonly previous: { readonly secret: string; readonly untilUs: number } | undefined
}

export interface HookDirectoryNeeds<Hook> {
  readonly ids: HookIds
  readonly store: Pick<SourceStore, 'secretsOf'>
  readonly loadStream: (id: StreamId) => Promise<DataStream | undefined>
  readonly open: (definition: HookDefinition) => Hook
}

/** The webhooks that messages arrive at, ready to check these. */
export class HookDirectory<Hook extends object> {
  readonly #needs: HookDirectoryNeeds<Hook>
  /** Webhooks by the ids of addresses; null where the stream has none any more. */
  readonly #hooks = new LruMap<string, Hook | null>(hooksMax)
  /** Grows with each `forget`: what was read before it may be outdated. */
  #forgotten = 0

  constructor(needs: HookDirectoryNeeds<Hook>) {
    this.#needs = needs
  }

  /** The webhook, null for none, or undefined where the state has to be asked. */
  cached(hookId: string): Hook | null | undefined {
    return this.#hooks.get(hookId)
  }

  async find(hookId: string): Promise<Hook | null> {
    for (;;) {
      const known = this.#hooks.get(hookId)
      if (known !== undefined) return known
      const streamId = this.#needs.ids.streamOf(hookId)
      if (streamId === undefined) return null
      const before = this.#forgotten
      const hook = await this.#load(streamId)
      if (before !== this.#forgotten) continue
      this.#hooks.set(hookId, hook)
      return hook
    }
  }

  /** To be called once a stream was changed, and before anybody is told so. */
  forget(streamId: StreamId): void {
    this.#forgotten++
    this.#hooks.delete(this.#needs.ids.idOf(streamId))
  }

  /** To be called when all streams of somebody are gone. */
  clear(): void {
    this.#forgotten++
    this.#hooks.clear()
  }

  async #load(streamId: StreamId): Promise<Hook | null> {
    const { store, loadStream, open } = this.#needs
    const stream = await loadStream(streamId)
    if (stream === undefined || !isInbound(stream.source)) return null
    const secrets: SourceSecrets | undefined = await store.secretsOf(streamId)
    if (secrets === undefined) return null
    const source = withSecrets(stream.source, secrets)
    return open({ streamId, source, previous: previousSecretOf(secrets) })
  }
}
