import type { parse } from '@bufbuild/cel'
import { byteNames, decodingNames } from './expression-bytes.ts'
import { goOn, mathNames, scan, timeNames, weigh } from './expression-functions.ts'
import { textNames } from './expression-texts.ts'

type Node = NonNullable<ReturnType<typeof parse>['expr']>

/** Nodes of one expression. */
const nodesMax = 300

const patternLengthMax = 100

/** How long a pattern becomes when its counted repetitions are written out. */
const patternStepsMax = 200

const operators = ['_+_', '_-_', '_*_', '_/_', '_%_', '-_', '!_', '_&&_', '_||_', '_?_:_', '_[_]']
const comparisons = ['_==_', '_!=_', '_<_', '_<=_', '_>_', '_>=_', '@in']
const ofTexts = ['size', 'contains', 'startsWith', 'endsWith', 'matches']
/** The function of `base64`, which is no field there. */
const base64 = 'decode'

const casts = ['int', 'double', 'bool', 'string', 'timestamp', 'duration']

const available: ReadonlySet<string> = new Set([
  ...operators,
  ...comparisons,
  ...ofTexts,
  ...casts,
  ...timeNames,
  ...textNames,
  ...decodingNames,
  ...byteNames,
  '@not_strictly_false',
])

/** Functions that do as much work as their arguments are large. */
const weighed: ReadonlySet<string> = new Set([
  '_+_',
  ...comparisons,
  ...ofTexts,
  ...casts,
  ...textNames,
  ...decodingNames,
  base64,
])

/** Functions whose results may be larger than the fields that an expression uses. */
const growing: ReadonlySet<string> = new Set([...textNames, ...decodingNames, base64])

/** What an expression uses, as far as it could be found out before running it. */
export interface Usage {
  readonly names: ReadonlySet<string>
  /** Whether it has loops, or builds lists, maps, texts or bytes. */
  readonly builds: boolean
}

/** Thrown for what may not stand in an expression. */
export class ExpressionProblem extends Error {}

/** @throws ExpressionProblem for an unknown name or function, or for what could take too long */
export function usageOf(root: Node, known: ReadonlySet<string>): Usage {
  const names = new Set<string>()
  let nodes = 0
  let builds = false
  const visit = (node: Node, own: ReadonlySet<string>): void => {
    if (++nodes > nodesMax) throw new ExpressionProblem(`has more than ${nodesMax} parts`)
    const { exprKind } = node
    if (exprKind.case === 'identExpr') {
      const { name } = exprKind.value
      if (own.has(name)) return
      if (!known.has(name)) throw new ExpressionProblem(`there is no field ${name}`)
      names.add(name)
    } else if (exprKind.case === 'callExpr') {
      checkCall(node)
      builds ||= growing.has(exprKind.value.function)
    } else if (exprKind.case === 'structExpr' && exprKind.value.messageName !== '') {
      throw new ExpressionProblem(`there is no type ${exprKind.value.messageName}`)
    }
    if (exprKind.case !== undefined) builds ||= building.has(exprKind.case)
    if (exprKind.case !== 'comprehensionExpr') {
      for (const part of partsOf(node)) visit(part, own)
      return
    }
    const { iterVar, accuVar, iterRange } = exprKind.value
    // What is looped over does not see the loop's variable, which may be named like a field.
    const within = new Set([...own, iterVar, accuVar])
    for (const part of partsOf(node)) visit(part, part === iterRange ? own : within)
  }
  visit(root, new Set())
  return { names, builds }
}

const building: ReadonlySet<string> = new Set(['comprehensionExpr', 'listExpr', 'structExpr'])

function checkCall(node: Node): void {
  const call = callOf(node)
  if (call === undefined) return
  const { function: name, args, target } = call
  if (isMathematics(node)) {
    if (!mathNames.includes(name)) throw new ExpressionProblem(`there is no function math.${name}`)
    return
  }
  if (isBase64(node)) return
  if (!available.has(name)) throw new ExpressionProblem(`there is no function ${name}`)
  if (timeNames.includes(name) && args.length > 0) {
    throw new ExpressionProblem(`${name} takes no zone: times are in UTC`)
  }
  if (name === 'matches') patternSteps(target === undefined ? args[1] : args[0])
}

/** Steps that a search with a pattern takes per character, about. @throws ExpressionProblem */
function patternSteps(node: Node | undefined): number {
  const constant =
    node?.exprKind.case === 'constExpr' ? node.exprKind.value.constantKind : undefined
  if (constant?.case !== 'stringValue') {
    throw new ExpressionProblem('matches takes its pattern as a text between quotes')
  }
  const pattern = constant.value
  if (pattern.length > patternLengthMax) {
    throw new ExpressionProblem(`a pattern has at most ${patternLengthMax} characters`)
  }
  if (/\\p/i.test(pattern)) throw new ExpressionProblem('a pattern cannot use \\p')
  // As if all repetitions were within each other.
  const times = [...pattern.matchAll(/\{(\d*)(?:,(\d*))?\}/g)].map(([, least = '', most = '']) =>
    Math.max(1, Number(least), Number(most)),
  )
  const steps = pattern.length * times.reduce((product, each) => product * each, 1)
  if (steps > patternStepsMax) throw new ExpressionProblem('a pattern repeats too much')
  return Math.max(1, steps)
}

type CallNode = Extract<Node['exprKind'], { case: 'callExpr' }>['value']

function callOf({ exprKind }: Node): CallNode | undefined {
  return exprKind.case === 'callExpr' ? exprKind.value : undefined
}

/** `math.sqrt(x)`: the name before the point is no field. */
function isMathematics(node: Node): boolean {
  const target = callOf(node)?.target
  return target?.exprKind.case === 'identExpr' && target.exprKind.value.name === 'math'
}

/** `base64.decode(x)`, likewise; a field may be called so, too, and has other functions. */
function isBase64(node: Node): boolean {
  const { target, function: name } = callOf(node) ?? {}
  const isNamed = target?.exprKind.case === 'identExpr' && target.exprKind.value.name === 'base64'
  return isNamed && name === base64
}

/** Whether what stands before the point is no value. */
function isOfNamespace(node: Node): boolean {
  return isMathematics(node) || isBase64(node)
}

function partsOf(node: Node): Node[] {
  return partsOrNothing(node).filter((part) => part !== undefined)
}

function partsOrNothing(node: Node): (Node | undefined)[] {
  const { exprKind } = node
  switch (exprKind.case) {
    case 'callExpr': {
      const { target, args } = exprKind.value
      return isOfNamespace(node) ? args : [target, ...args]
    }
    case 'selectExpr':
      return [exprKind.value.operand]
    case 'listExpr':
      return exprKind.value.elements
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) => [
        keyKind.case === 'mapKey' ? keyKind.value : undefined,
        value,
      ])
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value
      return [iterRange, accuInit, loopCondition, loopStep, result]
    }
    case 'constExpr':
    case 'identExpr':
    case undefined:
      return []
    default:
      return exprKind satisfies never
  }
}

/** Steps that a round of a loop takes beside its body; most of them when the body fails. */
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
        iterRange: iterRange && callTo(weigh, [metered(iterRange)]),
        loopCondition: loopCondition && callTo(goOn, [metered(loopCondition), integer(steps)]),
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
    return weighing && one.exprKind.case !== 'constExpr' ? callTo(weigh, [within]) : within
  }
  let changed = {
    ...rest,
    function: name,
    target: isOfNamespace(node) ? target : target && part(target),
    args: args.map(part),
  }
  if (name === 'matches') {
    const steps = integer(patternSteps(target === undefined ? args[1] : args[0]))
    const searched = changed.target ?? changed.args[0]
    const scanned = searched && callTo(scan, [searched, steps])
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

function callTo(name: string, args: readonly Node[]): Node {
  return { id: 0n, exprKind: { case: 'callExpr', value: { function: name, args } } } as Node
}

function integer(value: number): Node {
  const constantKind = { case: 'int64Value', value: BigInt(Math.ceil(value)) }
  return { id: 0n, exprKind: { case: 'constExpr', value: { constantKind } } } as Node
}
