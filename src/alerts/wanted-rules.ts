import type { AlertRule } from '../../processors/alert-rules.ts'
import type { FieldMap } from '../contracts/stream-schema.ts'
import { LruMap } from '../core/lru-map.ts'
import { alertRulesOf, rulesMax } from '../streams/data-streams/alert-definition.ts'
import type { VersionedDefinition } from '../streams/data-streams/definition.ts'
import type { Tags } from '../streams/data-streams/tags.ts'
import { storedFieldsOf } from '../streams/data-streams/transform-definition.ts'
import { type FleetRule, ruleOnStream } from './fleet-rule.ts'

/** Most streams of a fleet have one definition and the same rules: they are looked at once. */
const rememberedMax = 200

/** What rules of fleets are compared with. */
export interface ComparedStream {
  readonly vaultId: string
  readonly type: string
  readonly tags: Tags
  /** JSON of its newest version. */
  readonly definition: string
}

export interface WantedRules {
  readonly rules: readonly AlertRule[]
  /** Rules that would be for the stream, and why they cannot be. */
  readonly omissions: readonly { readonly ruleId: string; readonly reason: string }[]
}

/** Finds out which rules of its owner a stream is to have. Pure, but for what it remembers. */
export class RulesWanted {
  readonly #remembered = new LruMap<string, WantedRules>(rememberedMax)

  /** @param all rules of the stream's owner, in the order of their creation */
  of(stream: ComparedStream, all: readonly FleetRule[]): WantedRules {
    const matching = all.filter((rule) => isFor(rule, stream))
    if (matching.length === 0) return nothingWanted
    const key = JSON.stringify([
      stream.definition,
      matching.map(({ id, revision }) => [id, revision]),
    ])
    const known = this.#remembered.get(key)
    if (known) return known
    const wanted = wantedOf(stream.definition, matching)
    this.#remembered.set(key, wanted)
    return wanted
  }
}

const nothingWanted: WantedRules = { rules: [], omissions: [] }

function isFor({ vaultId, tags }: FleetRule, stream: ComparedStream): boolean {
  if (stream.type === 'service') return false
  if (vaultId !== undefined && vaultId !== stream.vaultId) return false
  return Object.entries(tags).every(
    ([name, value]) => Object.hasOwn(stream.tags, name) && stream.tags[name] === value,
  )
}

/** A stream's own rules come first, then the oldest ones of fleets. */
function wantedOf(definition: string, matching: readonly FleetRule[]): WantedRules {
  const parsed = JSON.parse(definition) as VersionedDefinition
  const fields: FieldMap = storedFieldsOf(parsed)
  const room = rulesMax - alertRulesOf(parsed.processing, fields).length
  const rules: AlertRule[] = []
  const omissions: { ruleId: string; reason: string }[] = []
  for (const rule of matching) {
    const found = ruleOnStream(rule, fields)
    if (found.problem !== undefined) omissions.push({ ruleId: rule.id, reason: found.problem })
    else if (rules.length < room) rules.push(found.rule)
    else omissions.push({ ruleId: rule.id, reason: `the stream has ${rulesMax} alert rules` })
  }
  return { rules, omissions }
}
