import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sourceKinds } from '../connectors/sources.ts'
import { layers } from './layers.ts'

const product = globSync(['src/**/*.ts', 'connectors/**/*.ts', 'processors/**/*.ts'])

/** Relative imports of a file, as paths from the root of the project. */
function importsOf(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...imports].map(([, path = '']) => normalize(join(dirname(file), path)))
}

/**
 * What a connector says of its sources, with nothing that connects: the domain reads it, so it is a group of its own
 * between both.
 */
const kinds = /^connectors\/(?:sources\.ts|fields\/|[a-z-]+\/source\.ts)/

/** Imports that are there when it runs: types are not. */
function loadedBy(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type )[^'=]*'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
  )
  return [...imports].map(([, fixed, late = '']) => normalize(join(dirname(file), fixed ?? late)))
}

/** `storage` of `src/storage/journal/journal.ts`, and `processors` of `processors/alerts.ts`. */
function groupOf(file: string): string {
  if (kinds.test(file)) return 'kinds'
  const [top = '', group = '', ...more] = file.split('/')
  if (top !== 'src') return top
  return more.length === 0 ? group.replace(/\.ts$/, '') : group
}

/**
 * `storage/journal` of `src/storage/journal/journal.ts`; what is deeper belongs to it. The list of all connectors is no
 * part of the folder whose files they share.
 */
function folderOf(file: string): string {
  if (file === 'connectors/index.ts') return file
  if (kinds.test(file)) return 'kinds'
  const [top = '', ...path] = dirname(file).split('/')
  return top === 'src' ? path.slice(0, 2).join('/') : [top, ...path].slice(0, 2).join('/')
}

const order = Object.keys(layers)

describe('layers', () => {
  test.each(Object.entries(layers))(
    '%s stands on what is before it in the table',
    (name, layer) => {
      const above = layer.mayImport.filter((other) => order.indexOf(other) >= order.indexOf(name))
      expect(above).toEqual([])
      expect(layer.mayImport.filter((other) => !order.includes(other))).toEqual([])
    },
  )

  test.each(product)('%s imports only what its group stands on', (file) => {
    const group = groupOf(file)
    const layer = layers[group]
    expect(layer, `no layer has the name of the group ${group}`).toBeDefined()
    const allowed = [group, ...(layer?.mayImport ?? [])]
    expect(importsOf(file).filter((imported) => !allowed.includes(groupOf(imported)))).toEqual([])
  })

  test('every group of the table is there', () => {
    expect([...new Set(product.map(groupOf))].sort()).toEqual([...order].sort())
  })
})

/** Members of rings of imports, and what stands between two rings. */
function inRings(imports: Map<string, ReadonlySet<string>>): readonly string[] {
  for (let size = -1; size !== imports.size; ) {
    size = imports.size
    for (const [one, others] of imports) {
      if ([...others].every((other) => !imports.has(other))) imports.delete(one)
    }
    const imported = new Set([...imports.values()].flatMap((others) => [...others]))
    for (const one of imports.keys()) if (!imported.has(one)) imports.delete(one)
  }
  return [...imports.keys()]
}

test('no folders import each other in a ring', () => {
  const imports = new Map<string, Set<string>>()
  for (const file of product) {
    const folder = folderOf(file)
    const others = imports.get(folder) ?? new Set()
    imports.set(folder, others)
    for (const other of importsOf(file).map(folderOf)) if (other !== folder) others.add(other)
  }
  expect(inRings(imports)).toEqual([])
})

test('no files import each other in a ring, types included', () => {
  const imports = new Map(product.map((file) => [file, new Set(importsOf(file))]))
  expect(inRings(imports)).toEqual([])
})

test('data streams name no protocol: what a source may say is a matter of its connector', () => {
  const protocols = sourceKinds.flatMap((kind) => kind.protocols)
  const named = product
    .filter((file) => file.startsWith('src/streams/'))
    .flatMap((file) => {
      const code = readFileSync(file, 'utf8').replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '')
      return protocols.filter(
        (protocol) => code.includes(`=== '${protocol}'`) || code.includes(`case '${protocol}'`),
      )
    })
  expect(protocols.length).toBeGreaterThan(15)
  expect(named).toEqual([])
})

describe('threads', () => {
  const threads = globSync(['src/**/*-thread.ts', 'src/processes/worker/worker.ts'], {
    exclude: ['src/core/threads/**'],
  })

  test.each(threads)(
    '%s loads no shapes of HTTP, which only the network thread checks by',
    (thread) => {
      const ways = new Map([[thread, [thread]]])
      for (const [file, way] of ways) {
        for (const other of loadedBy(file)) {
          if (!ways.has(other) && product.includes(other)) ways.set(other, [...way, other])
        }
      }
      expect(ways.size).toBeGreaterThan(1)
      expect(ways.get('src/requests/http/schema.ts'), 'the way there').toBeUndefined()
    },
  )
})

describe('ports', () => {
  const adapters = /^src\/storage\/time-series\/(?:duckdb|questdb)\//

  test('what stores of time series promise and share imports none of them', () => {
    const shared = product.filter((file) => file.startsWith('src/storage/time-series/'))
    const tied = shared.filter(
      (file) => !adapters.test(file) && importsOf(file).some((path) => adapters.test(path)),
    )
    expect(tied).toEqual([])
  })

  test('no store imports the other', () => {
    const tied = product.filter((file) => {
      const [own] = adapters.exec(file) ?? []
      return importsOf(file).some((path) => {
        const [other] = adapters.exec(path) ?? []
        return own !== undefined && other !== undefined && own !== other
      })
    })
    expect(tied).toEqual([])
  })

  test('who asks for stored readings, or removes them, goes through the port', () => {
    // A backup reads the rows of a server, and is told how by its adapter.
    const maySee = /^src\/(?:processes|operating\/backup)\//
    const tied = product.filter(
      (file) =>
        !adapters.test(file) &&
        !maySee.test(file) &&
        importsOf(file).some((path) => adapters.test(path)),
    )
    expect(tied).toEqual([])
  })
})
