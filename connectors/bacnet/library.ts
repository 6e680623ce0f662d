import { createRequire } from 'node:module'
import type bacnet from '@bacnet-js/client'
import { keepByteOrderMarks } from '../byte-order-marks.ts'

export type Library = typeof bacnet

/** Loaded by whoever is the first to need it. As CommonJS it has a default export in the eyes of some only. */
export function bacnetLibrary(): Library {
  const library = '@bacnet-js/client'
  keepByteOrderMarks(library)
  return createRequire(import.meta.url)(library) as Library
}
