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

/**
 * Reads the rules of definitions. Thousands of streams may have the same one, or one that differs in its source alone as those of
 * a fleet do, and then share what it says.
 */
export class RuleReader {
  readonly #read = new LruMap<string, KeptRules>(definitionsMax, {
    of: ({ characters }) => characters,
    max: charactersMax,
  })
  /** By what it follows from. */
  readonly #shared = new LruMap<string, DefinedRules>(definitionsMax)

  /** @param definition JSON, as the state has it */
  rulesOf(definition: string): DefinedRules {
    const known = this.#read.get(definition)
    if (known) return known.defined
    const parsed = JSON.parse(definition) as VersionedDefinition
    const defined = this.#definedBy(parsed)
    this.#read.set(definition, { defined, characters: definition.length })
    return defined
  }

  #definedBy({ schema, processing }: VersionedDefinition): DefinedRules {
    const key = JSON.stringify([schema, processing])
    const known = this.#shared.get(key)
    if (known) return known
    const fields = storedFieldsOf({ schema, processing })
    const rules = alertRulesOf(processing, fields)
    const defined = { rules, fields, sealUs: sealedEveryUs(processing) }
    this.#shared.set(key, defined)
    return defined
  }
}
