import type { JsonNode, Place } from './json-tree.ts'

/** Where a path leads in a text, and how much of it was found. */
export interface Found extends Place {
  /** False: what the path names is not there, and this is what would hold it. */
  readonly isWhole: boolean
  readonly node: JsonNode
}

/** Where the value stands that these names and indexes lead to. */
export function placeOf(root: JsonNode, path: readonly string[]): Found {
  let node = root
  for (const part of path) {
    const next = childOf(node, part)
    if (next === undefined) return { start: node.start, end: node.end, node, isWhole: false }
    node = next
  }
  return { start: node.start, end: node.end, node, isWhole: true }
}

/**
 * The same for a path in one text, with points between its parts. A name may have points in it: the longest one
 * that is there counts, and of several ways the one that leads the whole way.
 */
export function placeOfDotted(root: JsonNode, path: string): Found {
  if (path === '') return { start: root.start, end: root.end, node: root, isWhole: true }
  return walk(root, path.split('.'))
}

function walk(node: JsonNode, parts: readonly string[]): Found {
  if (parts.length === 0) return { start: node.start, end: node.end, node, isWhole: true }
  let nearest: Found = { start: node.start, end: node.end, node, isWhole: false }
  for (let length = parts.length; length > 0; length--) {
    const child = childOf(node, parts.slice(0, length).join('.'))
    if (child === undefined) continue
    const found = walk(child, parts.slice(length))
    if (found.isWhole) return found
    if (nearest.node === node) nearest = found
  }
  return nearest
}

/** Of members with one name the last counts, as for every reader of JSON. */
function childOf(node: JsonNode, part: string): JsonNode | undefined {
  if (node.is === 'object') return node.members.findLast(({ name }) => name === part)?.value
  if (node.is === 'array' && /^\d+$/.test(part)) return node.items[Number(part)]
  return undefined
}

/** The line and the column of an offset, counted from 1. */
export function lineAndColumn(
  text: string,
  at: number,
): { readonly line: number; readonly column: number } {
  let line = 1
  let lineStart = 0
  for (;;) {
    const end = text.indexOf('\n', lineStart)
    if (end === -1 || end >= at) return { line, column: at - lineStart + 1 }
    line += 1
    lineStart = end + 1
  }
}
