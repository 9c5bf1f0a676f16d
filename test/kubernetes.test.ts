import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1'
import { CronJob } from 'kubernetes-models/batch/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

const models = new Map(
  [Deployment, CronJob, NetworkPolicy, PodDisruptionBudget].map((Model) => [Model.name, Model] as const),
)
const folder = join(import.meta.dirname, '..', 'docs', 'examples', 'kubernetes')
const bases = readdirSync(folder)
const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
})
const kustomizationSchema = z.object({
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.object({ name: z.string(), envs: z.array(z.string()) })),
  secretGenerator: z.array(z.object({ name: z.string(), envs: z.array(z.string()) })),
})

function read(base: string, file: string): unknown {
  return parse(readFileSync(join(folder, base, file), 'utf8'))
}

/** By the schema of its kind. @throws with what does not fit it */
function validate(manifest: unknown): void {
  const parsed = manifestSchema.parse(manifest)
  const Model = models.get(parsed.kind)
  assert(Model !== undefined, `no schema of a ${parsed.kind} is known here`)
  // The constructor takes what is right alone; that is what is to be seen.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const model = new Model(parsed as never)
  expect(model).toMatchObject({ apiVersion: parsed.apiVersion })
  model.validate()
}

test.each(bases)('what kustomize applies of %s is all there, and valid', (base) => {
  const { resources, configMapGenerator, secretGenerator } = kustomizationSchema.parse(read(base, 'kustomization.yaml'))
  const manifests = readdirSync(join(folder, base)).filter(
    (file) => file.endsWith('.yaml') && file !== 'kustomization.yaml',
  )
  expect(resources.toSorted()).toEqual(manifests)
  for (const file of resources) validate(read(base, file))
  for (const { envs } of [...configMapGenerator, ...secretGenerator]) {
    for (const file of envs) expect(existsSync(join(folder, base, file))).toBe(true)
  }
})
