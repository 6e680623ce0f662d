/** What whoever asks for sessions of the console is told where there are none. */
export const noSessions = {
  find: () => undefined,
  isGood: () => false,
  use: () => undefined,
  termsOf: () => ({ lastUsedAtUs: 0, expiresAtUs: 0, idleExpiresAtUs: 0 }),
  flush: async () => undefined,
}
