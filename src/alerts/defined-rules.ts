import type { AlertRule } from '../../processors/alert-rules.ts'
import type { FieldMap } from '../contracts/stream-schema.ts'
import { LruMap } from '../core/lru-map.ts'
import { alertRulesOf } from '../streams/data-streams/alert-definition.ts'
import type { VersionedDefinition } from '../streams/data-streams/definition.ts'
import { sealedEveryUs } from '../streams/data-streams/processing.ts'
import { storedFieldsOf } from '../streams/data-streams/transform-definition.ts'

/** Definitions that are kept read, and characters of all of them together. */
const definitionsMax = 1_000
const charactersMax = 8_000_000

/** What the decider has to know of a definition. */
export interface DefinedRules {
  readonly rules: readonly AlertRule[]
  /** Fields that are stored, after the transform. */
  readonly fields: FieldMap
  /** See `sealedEveryUs`. */
  readonly sealUs?: number | undefined
}

interface KeptRules {
  readonly defined: DefinedRules
  readonly characters: number
}

/** Reads the rules of definitions. Thousands of streams may have the same one, and then share what it says. */
export class RuleReader {
  readonly #read = new LruMap<string, KeptRules>(definitionsMax, {
    of: ({ characters }) => characters,
    max: charactersMax,
  })

  /** @param definition JSON, as the state has it */
  rulesOf(definition: string): DefinedRules {
    const known = this.#read.get(definition)
    if (known) return known.defined
    const parsed = JSON.parse(definition) as VersionedDefinition
    const fields = storedFieldsOf(parsed)
    const { processing } = parsed
    const rules = alertRulesOf(processing, fields)
    const defined = { rules, fields, sealUs: sealedEveryUs(processing) }
    this.#read.set(definition, { defined, characters: definition.length })
    return defined
  }
}
