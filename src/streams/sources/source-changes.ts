import type { Compilable } from 'kysely'
import type { FetchConnector } from '../../contracts/fetch-connector.ts'
import { conflict, noRoom } from '../../core/conflict.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { EgressGuard } from '../../egress/egress-guard.ts'
import type { DataStream } from '../data-streams/data-stream-store.ts'
import type { ParsedDefinition } from '../data-streams/definition.ts'
import { namedSecretProblems, withoutUnused } from '../data-streams/named-secrets.ts'
import { inboundRulesOf, isInbound } from '../data-streams/source-kinds.ts'
import {
  markedPlaces,
  secretsOf,
  withoutSecrets,
  withSecrets,
} from '../data-streams/source-secrets.ts'
import { keepsSecrets, type StreamSources } from '../data-streams/stream-sources.ts'
import { overlapOf, withNewSecret } from './secret-rotation.ts'
import type { SourcePositions } from './source-positions.ts'
import { type SourceStore, sourcesMax } from './source-store.ts'

type Json = Readonly<Record<string, unknown>>

export interface SourceChangesNeeds {
  readonly store: SourceStore
  readonly guard: EgressGuard
  readonly connectors: readonly FetchConnector[]
  readonly positions: Pick<SourcePositions, 'keep'>
}

/** What becomes of the sources of streams, and of their secrets, when these are made or changed. */
export class SourceChanges
  implements
    Omit<
      StreamSources,
      'wake' | 'statusOf' | 'failing' | 'hurry' | 'tried' | 'hookIdOf' | 'hookStatusOf'
    >
{
  readonly #needs: SourceChangesNeeds

  constructor(needs: SourceChangesNeeds) {
    this.#needs = needs
  }

  planned(stream: Pick<DataStream, 'id' | 'ownerId' | 'source'>): readonly Compilable[] {
    const { source } = stream
    refuseMarks(markedPlaces(source), 'there is no secret that could be kept')
    return keepsSecrets(source) ? [this.#needs.store.insert(stream, secretsOf(source))] : []
  }

  async completed(stream: DataStream, changed: ParsedDefinition): Promise<ParsedDefinition> {
    const kept = (await this.#needs.store.secretsOf(stream.id)) ?? {}
    const source = withoutUnused(changed.source, kept)
    const marked = markedPlaces(source)
    const unknown = marked.filter((place) => kept[place] === undefined)
    refuseMarks(unknown, 'there is no secret that could be kept')
    // Kept secrets stay with their place: else one who may change a stream could have them sent to
    // another.
    if (placesOf(stream.source) !== placesOf(source)) {
      refuseMarks(marked, otherPlace)
    }
    if (stream.source['query'] !== source['query']) {
      // A query can have its secrets for a column.
      refuseMarks(marked.filter(isNamed), 'has to be sent again for another query')
    }
    refuseMisused(stream.source, withSecrets(source, kept))
    const given = secretsOf(source)
    const isSame = Object.entries(given).every(([place, secret]) => kept[place] === secret)
    return { ...changed, source: isSame ? withoutSecrets(source) : source }
  }

  async changed(stream: DataStream, source: Json): Promise<readonly Compilable[]> {
    const { store, positions } = this.#needs
    const kept = await store.kept(stream.id)
    if (!keepsSecrets(source)) {
      if (kept === undefined) return []
      // The position goes with the row, and it may have readings that wait for more.
      await positions.keep(stream.id)
      return this.removed(stream.id)
    }
    const whole = secretsOf(withSecrets(source, kept?.secrets ?? {}))
    if (kept !== undefined) {
      const all = { ...whole, ...overlapOf(kept.secrets, whole) }
      return [store.replace(stream, kept, all)]
    }
    await this.assertRoom(stream.ownerId, 1)
    return [store.insert(stream, whole)]
  }

  async rotated(
    { id, source }: DataStream,
    secret: string,
    previousUntilUs: number,
  ): Promise<Compilable> {
    const { store } = this.#needs
    const kept = await store.kept(id)
    if (kept === undefined || !isInbound(source)) {
      throw conflict(
        'the stream has no webhook',
        'Name a stream whose source has the protocol webhook; docs/inbound-webhooks.md shows how to make one.',
      )
    }
    const secrets = withNewSecret(kept.secrets, { secret, previousUntilUs })
    return store.replace({ id }, kept, secrets)
  }

  removed(id: StreamId): readonly Compilable[] {
    return [this.#needs.store.remove(id)]
  }

  async assertAllowed(source: Json): Promise<void> {
    const { guard, connectors } = this.#needs
    const connector = connectors.find((one) => one.takes(source))
    const further = connector?.furtherDestinationsOf?.(source) ?? []
    for (const destination of [connector?.destinationOf(source), ...further]) {
      if (destination) await guard.addressesOf(destination)
    }
  }

  async assertRoom(ownerId: UserId, count: number): Promise<void> {
    const { ofUser, inAll } = await this.#needs.store.count(ownerId)
    if (ofUser + count > sourcesMax.ofUser) {
      const reason = `a user can have ${sourcesMax.ofUser} streams that fetch their readings`
      throw noRoom(reason, 'DELETE /streams/{streamId}')
    }
    if (inAll + count > sourcesMax.inAll) {
      throw conflict(
        'there are as many streams that fetch as there may be',
        'Ask the operator: the limit is for all users of the service together. DELETE /streams/{streamId} makes room.',
      )
    }
  }
}

/** Where a source sends its secrets, or what it has them for. */
function placesOf(source: Json): string {
  const { endpoint, authentication } = source
  const tokenUrl = (authentication as Json | undefined)?.['tokenUrl']
  return JSON.stringify([endpoint, tokenUrl, inboundRulesOf(source)?.schemeOf(source) ?? ''])
}

function isNamed(place: string): boolean {
  return place.startsWith('secrets.')
}

/**
 * Holds a source to the use of its secrets, now that its headers are known, which may have some in them.
 *
 * @throws DomainError `invalid_request`
 */
function refuseMisused(before: Json, source: Json): void {
  if (before['secrets'] === undefined && source['secrets'] === undefined) return
  const details = namedSecretProblems(source)
  if (details.length === 0) return
  throw new DomainError('invalid_request', 'the change is not valid', { details })
}

const otherPlace = 'has to be sent again for another endpoint, or another kind of signature'

function refuseMarks(places: readonly string[], reason: string): void {
  if (places.length === 0) return
  const details: ErrorDetail[] = places.map((place) => ({
    path: `source.${place}`,
    message: reason,
  }))
  throw new DomainError('invalid_request', 'a secret is missing', { details })
}
