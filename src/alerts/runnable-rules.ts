import type { AlertRule, CompiledAlertRules } from '../../processors/alert-rules.ts'
import { ExpressionProblem } from '../../processors/expression-tree.ts'
import type { FieldMap } from '../contracts/stream-schema.ts'

export type CompileRules = (rules: readonly AlertRule[], fields: FieldMap) => CompiledAlertRules

/**
 * The rules that a stream is run with: its own, and those of fleets that it has the fields for. A version
 * without them may come before the entry that takes such a rule away, and must not stop the decider.
 */
export function runnableRules(
  { rules, fields }: { readonly rules: readonly AlertRule[]; readonly fields: FieldMap },
  fleetRules: readonly AlertRule[],
  compile: CompileRules,
): readonly AlertRule[] {
  if (fleetRules.length === 0) return rules
  return [...rules, ...fleetRules.filter((rule) => canRun(rule, fields, compile))]
}

function canRun(rule: AlertRule, fields: FieldMap, compile: CompileRules): boolean {
  if (rule.field !== undefined && !Object.hasOwn(fields, rule.field)) return false
  if (rule.condition === undefined) return true
  try {
    compile([rule], fields)
    return true
  } catch (error) {
    if (error instanceof ExpressionProblem) return false
    throw error
  }
}
