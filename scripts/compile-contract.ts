import { writeFileSync } from 'node:fs'
import {
  artifactFile,
  artifactText,
  compileContract,
  targets,
} from './contracts/compile-contract.ts'

/* Writes what the contract is compiled to, for each kind of network: `npm run contract`. */
for (const target of targets) {
  writeFileSync(artifactFile(target), artifactText(compileContract(target)))
}
