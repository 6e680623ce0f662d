import { oneOf } from '../../src/contracts/definitions/fields.ts'

/** Where a source is read from that nothing was read of yet. */
export const startFrom = oneOf('earliest', 'latest')
