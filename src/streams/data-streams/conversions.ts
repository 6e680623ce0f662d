import type { DefinedStep, Line, TransformStep } from '../../contracts/transform-step.ts'
import { DomainError } from '../../core/errors.ts'
import { pairKey, type UnitPair, type Units } from '../units/units.ts'
import type { Conversions, ParsedDefinition, StreamDefinition } from './definition.ts'
import { transformOf } from './transform-definition.ts'

/** Problems that are named of one request. */
const detailsMax = 100

/** Steps, and where they stand in a request. */
interface PlacedSteps {
  readonly steps: readonly DefinedStep[]
  readonly path: string
}

/** @throws DomainError `invalid_request` for units that are unknown or have nothing to do with each other */
export async function findConversions(
  units: Units,
  placed: readonly PlacedSteps[],
): Promise<Conversions> {
  const lines = await units.lines(placed.flatMap(({ steps }) => pairsOf(steps)))
  const problems = new Map<string, string>()
  const conversions: Record<string, Line> = {}
  for (const { steps, path } of placed) {
    for (const [index, step] of steps.entries()) {
      if (!('convert' in step)) continue
      const key = pairKey(step.convert)
      const line = lines.get(key)
      if (typeof line === 'string') problems.set(`${path}.${index}.convert`, line)
      else if (line !== undefined) conversions[key] = line
    }
  }
  if (problems.size === 0) return conversions
  const details = [...problems].slice(0, detailsMax)
  throw new DomainError('invalid_request', 'a conversion of units is not possible', {
    details: details.map(([path, message]) => ({ path, message })),
    remedy: unitRemedy,
  })
}

const unitRemedy =
  'Write the units that details names as docs/transforms.md lists them, such as degC for C and km/h for kph.'

/**
 * The last part of checking a definition.
 *
 * @throws DomainError as `findConversions` does
 */
export async function withConversions(
  units: Units,
  definition: ParsedDefinition,
): Promise<StreamDefinition> {
  const [checked] = await allWithConversions(units, [{ definition, place: '' }])
  return checked as StreamDefinition
}

/** The last part of checking many definitions, each with its place in the request. */
export async function allWithConversions(
  units: Units,
  placed: readonly { readonly definition: ParsedDefinition; readonly place: string }[],
): Promise<readonly StreamDefinition[]> {
  const transforms = placed.map(({ definition, place }) => ({
    steps: transformOf(definition.processing),
    path: place === '' ? 'processing.transform' : `${place}.processing.transform`,
  }))
  const conversions = await findConversions(units, transforms)
  return placed.map(({ definition }, index) => {
    const keys = pairsOf(transforms[index]?.steps ?? []).map(pairKey)
    const own = keys.map((key) => [key, conversions[key] as Line] as const)
    return { ...definition, conversions: Object.fromEntries(own) }
  })
}

function pairsOf(steps: readonly DefinedStep[]): readonly UnitPair[] {
  return steps.flatMap((step) => ('convert' in step ? [step.convert] : []))
}

/** Steps that can be run, of those that were checked. */
export function runnableSteps(
  steps: readonly DefinedStep[],
  conversions: Conversions,
): readonly TransformStep[] {
  return steps.map((step) => {
    if (!('convert' in step)) return step
    const line = conversions[pairKey(step.convert)]
    if (line === undefined) throw new Error(`no conversion of ${pairKey(step.convert)} was found`)
    return { convert: { ...step.convert, line } }
  })
}
