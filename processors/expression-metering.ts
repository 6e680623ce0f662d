import {
  type CallNode,
  callOf,
  isMathematics,
  type Node,
  partsOf,
  patternSteps,
  weighed,
} from './expression-check.ts'
import { goOn, scan, weigh } from './expression-functions.ts'

/** What a round of a loop costs beside its body; most of it when the body fails. */
const stepsPerRound = 10

/** The expression with calls woven in that measure its work. */
export function metered(node: Node): Node {
  const { exprKind } = node
  switch (exprKind.case) {
    case 'callExpr':
      return meteredCall(node)
    case 'selectExpr':
      return {
        ...node,
        exprKind: {
          ...exprKind,
          value: { ...exprKind.value, operand: meteredPart(exprKind.value.operand) },
        },
      }
    case 'listExpr': {
      const elements = exprKind.value.elements.map(metered)
      return { ...node, exprKind: { ...exprKind, value: { ...exprKind.value, elements } } }
    }
    case 'structExpr': {
      const entries = exprKind.value.entries.map((entry) => ({
        ...entry,
        keyKind:
          entry.keyKind.case === 'mapKey'
            ? { ...entry.keyKind, value: metered(entry.keyKind.value) }
            : entry.keyKind,
        value: meteredPart(entry.value),
      }))
      const value = { ...exprKind.value, entries }
      return { ...node, exprKind: { ...exprKind, value } }
    }
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result, ...rest } = exprKind.value
      const steps = stepsPerRound + sizeOf(loopCondition) + sizeOf(loopStep)
      const value = {
        ...rest,
        accuInit: meteredPart(accuInit),
        iterRange: iterRange && call(weigh, [metered(iterRange)]),
        loopCondition: loopCondition && call(goOn, [metered(loopCondition), integer(steps)]),
        loopStep: meteredPart(loopStep),
        result: meteredPart(result),
      }
      return { ...node, exprKind: { ...exprKind, value } }
    }
    case 'constExpr':
    case 'identExpr':
    case undefined:
      return node
    default:
      return exprKind satisfies never
  }
}

function meteredPart(node: Node | undefined): Node | undefined {
  return node && metered(node)
}

function meteredCall(node: Node): Node {
  const { target, args, function: name, ...rest } = callOf(node) as CallNode
  const weighing = weighed.has(name) && !isMathematics(node)
  const part = (one: Node) => {
    const within = metered(one)
    return weighing && one.exprKind.case !== 'constExpr' ? call(weigh, [within]) : within
  }
  let changed = {
    ...rest,
    function: name,
    target: isMathematics(node) ? target : target && part(target),
    args: args.map(part),
  }
  if (name === 'matches') {
    const steps = integer(patternSteps(target === undefined ? args[1] : args[0]))
    const searched = changed.target ?? changed.args[0]
    const scanned = searched && call(scan, [searched, steps])
    changed =
      changed.target === undefined
        ? {
            ...changed,
            args: [scanned, ...changed.args.slice(1)].filter((one) => one !== undefined),
          }
        : { ...changed, target: scanned }
  }
  return { ...node, exprKind: { case: 'callExpr', value: changed } }
}

/** Parts of an expression. */
export function sizeOf(node: Node | undefined): number {
  return node === undefined ? 0 : 1 + partsOf(node).reduce((sum, part) => sum + sizeOf(part), 0)
}

function call(name: string, args: readonly Node[]): Node {
  return { id: 0n, exprKind: { case: 'callExpr', value: { function: name, args } } } as Node
}

function integer(value: number): Node {
  const constantKind = { case: 'int64Value', value: BigInt(Math.ceil(value)) }
  return { id: 0n, exprKind: { case: 'constExpr', value: { constantKind } } } as Node
}
