/** Stands wherever a secret is: in answers, and in definitions at rest. Sent back, it keeps the secret. */
export const secretMark = '********'
