/** The files in the folder of the sandbox. */

/** One block a line. */
export const chainFile = 'chain.jsonl'

/** Private keys, encrypted with the master key, and public ones. */
export const keysFile = 'keys.json'

/** Made of the chain, and can be thrown away. */
export const indexFile = 'index.db'
