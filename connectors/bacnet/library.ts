import { createRequire } from 'node:module'
import type bacnet from '@bacnet-js/client'

export type Library = typeof bacnet

/** Loaded by whoever is the first to need it. As CommonJS it has a default export in the eyes of some only. */
export function bacnetLibrary(): Library {
  return createRequire(import.meta.url)('@bacnet-js/client') as Library
}
