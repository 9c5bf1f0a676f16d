#!/usr/bin/env node
// @ts-nocheck There is not a type in this file, on purpose:
// It must also load under a Node that knows no TypeScript: so it is plain CommonJS without a type annotation, and
// package.json has no "type" (docs/adr/0001-no-build-step.md). The launcher is a file of its own because it becomes
// another process: nothing has to strip types again there.
'use strict'
require('../bin/livehouse.cjs')
