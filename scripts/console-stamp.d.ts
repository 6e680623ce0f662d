export function builtFolder(root: string): string
export function hasSources(root: string): boolean
export function digestOf(root: string): string
export function builtDigest(folder: string): string | undefined
export function stampOf(sources: string): { readonly name: string; readonly content: string }
