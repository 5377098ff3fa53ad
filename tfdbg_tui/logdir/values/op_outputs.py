"""The output types of TensorFlow ops whose outputs are not all of one type.

Written by tests/logdir/values/generate_output_types.py from TensorFlow 2.21.0's registry.  One
line an op: its name, then the type of each output.  A type is a DataType's name, or the name of the
attribute that gives it, after ``#`` if that can be no floating type and ``?`` if it can; ``*``
after it stands for any number of outputs.
"""

from __future__ import annotations

OUTPUT_TYPES = """
AllCandidateSampler int64 float32 float32
AnonymousIteratorV2 resource variant
AnonymousMemoryCache resource variant
AnonymousMultiDeviceIterator resource variant
AnonymousRandomSeedGenerator resource variant
AnonymousSeedGenerator resource variant
ApproxTopK ?T int32
BoostedTreesCalculateBestFeatureSplit int32 float32 int32 int32 float32 float32 string
BoostedTreesCalculateBestFeatureSplitV2 int32 float32 int32 int32 int32 float32 float32 string
BoostedTreesCalculateBestGainsPerFeature int32* float32* int32* float32* float32*
BoostedTreesGetEnsembleStates int64 int32 int32 int32 int32
BoostedTreesSerializeEnsemble int64 string
BoostedTreesSparseAggregateStats int32 float32 int32
BoostedTreesSparseCalculateBestFeatureSplit int32 float32 int32 int32 float32 float32 string
BoostedTreesTrainingPredict float32 int32 int32
CSRSparseMatrixComponents int32 int32 ?type
CSRSparseMatrixToSparseTensor int64 ?type int64
CTCBeamSearchDecoder int64* int64* int64* ?T
CTCGreedyDecoder int64 int64 int64 ?T
CombinedNonMaxSuppression float32 float32 float32 int32
ComputeAccidentalHits int32 int64 float32
ConvertToCooTensor int32 int32 float32
ConvertToListOfSparseCoreCooTensors int32* int32* float32*
ConvertToSparseCoreCsrWrappedCooTensor int32 int32 int32 float32 int32 int32 int32
CudnnRNNV2 ?T ?T ?T ?T int8
CudnnRNNV3 ?T ?T ?T ?T int8
CustomAggregator float32 float32 float32 int64
DecodeWav float32 int32
DenseCountSparseOutput int64 ?output_type int64
DenseToDenseSetOperation int64 #T int64
DenseToSparseSetOperation int64 #T int64
DeserializeManySparse int64 ?dtype int64
DeserializeSparse int64 ?dtype int64
FixedUnigramCandidateSampler int64 float32 float32
FloatOutputStringOutput float32 string
Foo1 float32 int32
Foo2 float32 int32
Foo3 float32 int32
FractionalAvgPool ?T int64 int64
FractionalMaxPool ?T int64 int64
FusedBatchNormGradV2 ?T ?U ?U ?U ?U
FusedBatchNormGradV3 ?T ?U ?U ?U ?U
FusedBatchNormV2 ?T ?U ?U ?U ?U
FusedBatchNormV3 ?T ?U ?U ?U ?U ?U
GenerateVocabRemapping int64 int32
GetMinibatchSplitsWithPhysicalReplica int32 int32 float32 int64 int32 int32 int32
GetMinibatchesInCsrWithPhysicalReplica int32 int32 int32 float32 int32 int32 int32
IntOutputFloatOutput int32 float32
IsotonicRegression ?output_dtype int32
LearnedUnigramCandidateSampler int64 float32 float32
ListDiff ?T #out_idx
LogUniformCandidateSampler int64 float32 float32
LookupTableExport ?Tkeys ?Tvalues
LookupTableExportV2 ?Tkeys ?Tvalues
Lu ?T #output_idx_type
MaxPoolWithArgmax ?T #Targmax
Merge ?T int32
MixedStruct int32* float32
Namespace>TestStringOutput float32 string
NearestNeighbors int64 float32
NonMaxSuppressionV5 int32 ?T int32
QuantizeDownAndShrinkRange #out_type float32 float32
QuantizeV2 #T float32 float32
QuantizedAdd #Toutput float32 float32
QuantizedAvgPool #T float32 float32
QuantizedBatchNormWithGlobalNormalization #out_type float32 float32
QuantizedBiasAdd #out_type float32 float32
QuantizedConcat ?T float32 float32
QuantizedConcatV2 ?T float32 float32
QuantizedConv2D #out_type float32 float32
QuantizedConv2DAndRelu #out_type float32 float32
QuantizedConv2DAndReluAndRequantize #out_type float32 float32
QuantizedConv2DAndRequantize #out_type float32 float32
QuantizedConv2DPerChannel #out_type float32 float32
QuantizedConv2DWithBias #out_type float32 float32
QuantizedConv2DWithBiasAndRelu #out_type float32 float32
QuantizedConv2DWithBiasAndReluAndRequantize #out_type float32 float32
QuantizedConv2DWithBiasAndRequantize #out_type float32 float32
QuantizedConv2DWithBiasSignedSumAndReluAndRequantize #out_type float32 float32
QuantizedConv2DWithBiasSumAndRelu #out_type float32 float32
QuantizedConv2DWithBiasSumAndReluAndRequantize #out_type float32 float32
QuantizedDepthwiseConv2D #out_type float32 float32
QuantizedDepthwiseConv2DWithBias #out_type float32 float32
QuantizedDepthwiseConv2DWithBiasAndRelu #out_type float32 float32
QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize #out_type float32 float32
QuantizedInstanceNorm #T float32 float32
QuantizedMatMul #Toutput float32 float32
QuantizedMatMulWithBias #Toutput float32 float32
QuantizedMatMulWithBiasAndRelu #Toutput float32 float32
QuantizedMatMulWithBiasAndReluAndRequantize #Toutput float32 float32
QuantizedMatMulWithBiasAndRequantize #Toutput float32 float32
QuantizedMaxPool #T float32 float32
QuantizedMul #Toutput float32 float32
QuantizedRelu #out_type float32 float32
QuantizedRelu6 #out_type float32 float32
QuantizedReluX #out_type float32 float32
QuantizedReshape ?T float32 float32
QuantizedResizeBilinear ?T float32 float32
RaggedCountSparseOutput int64 ?output_type int64
RaggedCross #out_values_type #out_row_splits_type
RaggedFillEmptyRows int64 ?T bool int64
RaggedGather #Tsplits* ?Tvalues
RaggedRange #Tsplits ?T
RaggedTensorFromVariant #Tsplits* ?Tvalues
RaggedTensorToSparse int64 ?T int64
RefMerge ?T int32
Requantize #out_type float32 float32
RequantizePerChannel #out_type float32 float32
RpcCall resource variant
RpcCheckStatus int64 string
RpcClient resource string
SampleDistortedBoundingBox #T #T float32
SampleDistortedBoundingBoxV2 #T #T float32
Skipgram string int32 int64 int32 int64 int32 int32
SortListOfSparseCoreCooTensors int32 int32 float32 int32
SparseAccumulatorTakeGradient int64 ?dtype int64
SparseAdd int64 ?T int64
SparseConcat int64 ?T int64
SparseCountSparseOutput int64 ?output_type int64
SparseCross int64 #out_type int64
SparseCrossV2 int64 string int64
SparseFillEmptyRows int64 ?T bool int64
SparseReduceMaxSparse int64 ?T int64
SparseReduceSumSparse int64 ?T int64
SparseReorder int64 ?T
SparseSegmentMeanGradV2 ?T #Tidx
SparseSegmentSqrtNGradV2 ?T #Tidx
SparseSegmentSumGradV2 ?T #Tidx
SparseSlice int64 ?T int64
SparseSparseMaximum int64 ?T
SparseSparseMinimum int64 ?T
SparseSplit int64* ?T* int64*
SparseToSparseSetOperation int64 #T int64
SplitDedupData #integer_type ?float_type
StatelessRandomGetKeyCounterAlg uint64 uint64 int32
StatelessSampleDistortedBoundingBox #T #T float32
StringNGrams string #Tsplits
StringSplit int64 string int64
StringSplitV2 int64 string int64
TPUCompile string string* bool*
TakeManySparseFromTensorsMap int64 ?dtype int64
TensorArrayConcat ?dtype int64
TensorArrayConcatV2 ?dtype int64
TensorArrayConcatV3 ?dtype int64
TensorArrayGradV3 resource float32
TensorArrayGradWithShape resource float32
TensorArrayV3 resource float32
TensorListConcat ?element_dtype int64
TensorListConcatV2 ?element_dtype int64
TensorListPopBack variant ?element_dtype
TestStringOutput float32 string
ThreadUnsafeUnigramCandidateSampler int64 float32 float32
TopK ?T int32
TopKUnique float32 int32
TopKV2 ?T #index_type
TopKWithUnique float32 int32
UnicodeDecode #Tsplits int32
UnicodeDecodeWithOffsets #Tsplits int32 int64
UniformCandidateSampler int64 float32 float32
Unique ?T #out_idx
UniqueV2 ?T #out_idx
UniqueWithCounts ?T #out_idx #out_idx
UniqueWithCountsV2 ?T #out_idx #out_idx
XlaKeyValueSort ?K ?V
XlaRngBitGenerator uint64 #dtype
XlaSparseDenseMatmul float32 int32 int32 int32 float32
XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput float32 int32 float32
_FusedBatchNormEx ?T ?U ?U ?U ?U ?U
_FusedBatchNormGradEx ?T ?U ?U ?U ?U ?T*
_MklAvgPool ?T uint8
_MklAvgPool3D ?T uint8
_MklAvgPool3DGrad ?T uint8
_MklAvgPoolGrad ?T uint8
_MklConcat ?T uint8
_MklConcatV2 ?T uint8
_MklConv2D ?T ?T uint8 uint8
_MklConv2DBackpropFilter ?T uint8
_MklConv2DBackpropFilterWithBias ?T ?T uint8 uint8
_MklConv2DBackpropInput ?T uint8
_MklConv2DWithBias ?T ?T uint8 uint8
_MklConv3D ?T ?T uint8 uint8
_MklConv3DBackpropFilterV2 ?T uint8
_MklConv3DBackpropInputV2 ?T uint8
_MklDepthwiseConv2dNative ?T ?T uint8 uint8
_MklDepthwiseConv2dNativeBackpropFilter ?T uint8
_MklDepthwiseConv2dNativeBackpropInput ?T uint8
_MklElu ?T uint8
_MklEluGrad ?T uint8
_MklFusedBatchNorm ?T ?T ?T ?T ?T uint8 uint8 uint8 uint8 uint8
_MklFusedBatchNormEx ?T ?U ?U ?U ?U ?U uint8 uint8 uint8 uint8 uint8 uint8
_MklFusedBatchNormGrad ?T ?T ?T ?T ?T uint8 uint8 uint8 uint8 uint8
_MklFusedBatchNormGradV2 ?T ?U ?U ?U ?U uint8 uint8 uint8 uint8 uint8
_MklFusedBatchNormGradV3 ?T ?U ?U ?U ?U uint8 uint8 uint8 uint8 uint8
_MklFusedBatchNormV2 ?T ?U ?U ?U ?U uint8 uint8 uint8 uint8 uint8
_MklFusedBatchNormV3 ?T ?U ?U ?U ?U ?U uint8 uint8 uint8 uint8 uint8 uint8
_MklFusedConv2D ?T ?T uint8 uint8
_MklFusedDepthwiseConv2dNative ?T ?T uint8 uint8
_MklFusedMatMul ?T uint8
_MklLeakyRelu ?T uint8
_MklLeakyReluGrad ?T uint8
_MklMaxPool ?T uint8 uint8 uint8
_MklMaxPool3D ?T uint8 uint8 uint8
_MklMaxPool3DGrad ?T uint8
_MklMaxPoolGrad ?T uint8
_MklNativeFusedBatchNormEx ?T ?U ?U ?U ?U ?U
_MklNativeFusedBatchNormGradV2 ?T ?U ?U ?U ?U
_MklNativeFusedBatchNormGradV3 ?T ?U ?U ?U ?U
_MklNativeFusedBatchNormV2 ?T ?U ?U ?U ?U
_MklNativeFusedBatchNormV3 ?T ?U ?U ?U ?U ?U
_MklNativeMaxPool ?T uint8
_MklNativeMaxPool3D ?T uint8
_MklPadWithConv2D ?T ?T uint8 uint8
_MklPadWithFusedConv2D ?T ?T uint8 uint8
_MklQuantizeV2 #T float32 float32
_MklQuantizedAvgPool #T float32 float32
_MklQuantizedConcatV2 ?T float32 float32
_MklQuantizedConv2D #out_type float32 float32
_MklQuantizedConv2DAndRelu #out_type float32 float32
_MklQuantizedConv2DAndReluAndRequantize #out_type float32 float32
_MklQuantizedConv2DAndRequantize #out_type float32 float32
_MklQuantizedConv2DPerChannel #out_type float32 float32
_MklQuantizedConv2DWithBias #out_type float32 float32
_MklQuantizedConv2DWithBiasAndRelu #out_type float32 float32
_MklQuantizedConv2DWithBiasAndReluAndRequantize #out_type float32 float32
_MklQuantizedConv2DWithBiasAndRequantize #out_type float32 float32
_MklQuantizedConv2DWithBiasSignedSumAndReluAndRequantize #out_type float32 float32
_MklQuantizedConv2DWithBiasSumAndRelu #out_type float32 float32
_MklQuantizedConv2DWithBiasSumAndReluAndRequantize #out_type float32 float32
_MklQuantizedDepthwiseConv2D #out_type float32 float32
_MklQuantizedDepthwiseConv2DWithBias #out_type float32 float32
_MklQuantizedDepthwiseConv2DWithBiasAndRelu #out_type float32 float32
_MklQuantizedDepthwiseConv2DWithBiasAndReluAndRequantize #out_type float32 float32
_MklQuantizedMatMulWithBias #Toutput float32 float32
_MklQuantizedMatMulWithBiasAndRelu #Toutput float32 float32
_MklQuantizedMatMulWithBiasAndReluAndRequantize #Toutput float32 float32
_MklQuantizedMatMulWithBiasAndRequantize #Toutput float32 float32
_MklQuantizedMaxPool #T float32 float32
_MklRelu ?T uint8
_MklRelu6 ?T uint8
_MklRelu6Grad ?T uint8
_MklReluGrad ?T uint8
_MklTanh ?T uint8
_MklTanhGrad ?T uint8
_QuantizedMaxPool3D #T float32 float32
_XlaCompile string bool
__MklDummyPadWithFusedConv2D ?T ?T uint8 uint8
"""
